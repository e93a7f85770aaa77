// One pool of connections for all programs of a process, and each program's view of it. The search path is set when a
// connection is taken, so that a name means the table of that program alone.
//
// Decision: the queue is here and not in pg's pool, whose wait fails for all while one program's statements wait
// for a lock. Each connection is a pg pool of its own, which opens, ages and closes it; so a taker can choose.
// A connection of Postgres keeps 2 to 2.5 MB for each program whose tables and functions it has used (measured: 97 MB
// with 39, 187 MB with 100). So a program has a connection of its own among them, and takes another only while that one
// is in use; one that served many is closed. With a hundred programs this saved half of Postgres' CPU time (measured:
// 151 instead of 305 ms for 1,000 rows).

import type { Pool as PgPool, PoolClient } from 'pg';
import { makeTurns } from './turns.ts';

/** A program's view of the pool: each connection and each statement works in its schema. */
export interface Pool extends Pick<PoolClient, 'query'> {
  /** Null outside of any program: a name without its schema is then only one of Postgres itself. */
  readonly schema: string | null;
  readonly shared: SharedPool;
  /** Empty, for Kysely: the connections have theirs. */
  readonly options: object;
  /** Waits for a connection for as long as it takes. Throws: pg's errors of connecting. */
  connect(): Promise<PoolClient>;
  /** Closes the connections of all programs. */
  end(): Promise<void>;
}

export interface SharedPool {
  /** Returns the view of a program. */
  of(schema: string): Pool;
  /** Outside of any program. */
  readonly base: Pool;
  /** The connections that are in use. */
  readonly busy: ReadonlySet<PoolClient>;
  /** Whether another connection could be taken at once. */
  hasFree(): boolean;
}

export interface SharedPoolSettings {
  /** pg pools of one connection each, which opens outside of any program. */
  readonly connections: readonly PgPool[];
  /** A program has at most so many connections at a time. */
  readonly mostPerProgram: number;
  /** Returns the search path of a program, null outside of any. */
  readonly searchPath: (schema: string | null) => string;
}

/** A connection that has served so many programs is closed: it may hold 97 MB. */
const MOST_PROGRAMS = 40;
/** Rather than let one that served so many take one more, a new one is opened. */
const NEW_INSTEAD_OF = 15;

interface Used {
  /** Its search path. */
  path: string;
  /** The search paths that it had. */
  readonly paths: Set<string>;
}

/** Returns the pool, without a connection yet. */
export function makeSharedPool({ connections, mostPerProgram, searchPath }: SharedPoolSettings): SharedPool {
  const turns = makeTurns(connections);
  const outside = searchPath(null);
  const busy = new Set<PoolClient>();
  const uses = new WeakMap<PoolClient, Used>();
  const last = new WeakMap<PgPool, PoolClient>();
  /** Null if it has no connection that could be used at once. */
  const useOf = (pool: PgPool): Used | null => {
    const client = pool.idleCount === 0 ? undefined : last.get(pool);
    return (client && uses.get(client)) ?? null;
  };
  // The session of the process keeps a connection for as long as it works: it is no program's own.
  const [ofProcess, ...ofPrograms] = connections;
  if (ofProcess === undefined) throw new TypeError('a pool without connections');
  const homes = new Map([[outside, ofProcess]]);
  /** Returns its own connection: in turn, so that each has as many programs as another, and none waits longer. */
  const homeOf = (path: string): PgPool => {
    const home = homes.get(path) ?? ofPrograms[(homes.size - 1) % ofPrograms.length] ?? ofProcess;
    homes.set(path, home);
    return home;
  };
  const view = (schema: string | null): Pool => {
    const path = searchPath(schema);
    const home = homeOf(path);
    const most = schema === null ? connections.length : mostPerProgram;
    const pick = (free: readonly PgPool[]): PgPool => {
      const isSet = free.find((pool) => useOf(pool)?.path === path);
      const own = isSet ?? free.find((pool) => pool === home);
      const known = own ?? free.find((pool) => useOf(pool)?.paths.has(path));
      if (known !== undefined) return known;
      const count = (pool: PgPool) => useOf(pool)?.paths.size ?? NEW_INSTEAD_OF;
      const [fewest] = free.toSorted((one, other) => count(one) - count(other));
      if (fewest === undefined) throw new TypeError('no connection is free');
      return fewest;
    };
    const take = async (): Promise<PoolClient> => {
      const pool = await turns.take(path, most, { home, pick });
      try {
        const client = await pool.connect();
        last.set(pool, client);
        busy.add(client);
        // pg's pool makes this function anew for each taker.
        const release = client.release.bind(client);
        client.release = (error) => {
          busy.delete(client);
          const isUsedUp = (uses.get(client)?.paths.size ?? 0) >= MOST_PROGRAMS;
          // Kysely's drivers release with false.
          release(error || isUsedUp);
          turns.giveBack(path, pool);
        };
        return client;
      } catch (error) {
        turns.giveBack(path, pool);
        throw error;
      }
    };
    const connect = async (): Promise<PoolClient> => {
      const client = await take();
      const use = uses.get(client) ?? { path: outside, paths: new Set() };
      uses.set(client, use);
      if (use.path === path) return client;
      try {
        use.path = '';
        await client.query(`select set_config('search_path', $1, false)`, [path]);
        // Only now: a connection of unknown path would read a neighbour's tables.
        use.path = path;
        use.paths.add(path);
        return client;
      } catch (error) {
        client.release(true);
        throw error;
      }
    };
    const query = async (...statement: Parameters<PoolClient['query']>) => {
      const client = await connect();
      try {
        return await client.query(...statement);
      } finally {
        client.release();
      }
    };
    return {
      schema,
      shared,
      options: {},
      connect,
      query: query as Pool['query'],
      end: async () => {
        await Promise.all(connections.map((pool) => pool.end()));
      },
    };
  };
  const shared: SharedPool = { of: view, base: undefined as never, busy, hasFree: turns.hasFree };
  return Object.assign(shared, { base: view(null) });
}
