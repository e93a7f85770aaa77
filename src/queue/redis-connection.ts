// Connects to Redis as it is deployed: one server, Sentinels, a Cluster, with or without TLS, a password, a user of its
// own. The connection is made again whenever it is lost.

import { Cluster, type ClusterOptions, Redis } from 'ioredis';
import { type RedisAddress, readRedisAddress } from '../config/redis-address.ts';
import { ConfigError, DatabaseUnreachable } from '../errors.ts';
import { isFull, lookAtRedis, MEMORY_FULL, type RedisSettings, redisSettings } from './look-at-redis.ts';
import { explainRedis } from './redis-failure.ts';

/** A Redis that is back is found within this. Source: measured; ioredis' own pause grows to 20 s. */
const LONGEST_RECONNECT_MS = 2000;

export interface RedisConnection {
  /** For BullMQ, which makes one more connection of it for each worker. */
  readonly client: Redis | Cluster;
  /** What is not as it should be, though a worker works with it. */
  readonly warnings: readonly string[];
  isConnected(): boolean;
  /** Why it is not connected; null where it is. Holds no password. */
  lastFailure(): string | null;
  /** Throws: DatabaseUnreachable where it answers, and takes no writes; ioredis' errors. */
  checkWrites(): Promise<void>;
}

/**
 * Returns a connection that is kept, and made again whenever it is lost.
 *
 * Throws: DatabaseUnreachable, saying why; ConfigError where a file that the address names cannot be read.
 */
export async function connectToRedis(url: string, warn: (error: unknown) => void): Promise<RedisConnection> {
  const address = parse(url);
  const { isCluster, warnings } = await lookAtRedis(address);
  const settings = {
    ...redisSettings(address),
    // With a limit, a job that ends while Redis is away could never be ended.
    maxRetriesPerRequest: null,
    retryStrategy: waitBeforeRetry,
    // After a failover an old primary goes on answering, and refuses every write: connect anew, and send it there.
    reconnectOnError: (error: Error) => (error.message.startsWith('READONLY') ? 2 : false),
  };
  const client = patched(
    isCluster ? new Cluster([...address.hosts], clusterOptions(settings)) : new Redis(settings),
  );
  let lastFailure: string | null = null;
  client.on('error', (error: unknown) => {
    lastFailure = explainRedis(error, address);
    warn(error);
  });
  client.on('ready', () => {
    lastFailure = null;
  });
  return {
    client,
    warnings,
    isConnected: () => ['ready', 'connecting', 'connect'].includes(client.status),
    lastFailure: () => lastFailure,
    async checkWrites() {
      const nodes = client instanceof Cluster ? client.nodes('master') : [client];
      // `info` lacks the policy, see below.
      const infos = await Promise.all(nodes.map((node) => node.call('INFO', 'memory')));
      if (!infos.some((info) => isFull(String(info)))) return;
      throw new DatabaseUnreachable(`the queue in Redis at ${address.name} takes no jobs: ${MEMORY_FULL}`);
    },
  };
}

/** Returns hosts and ports of the address: what may be printed of it. */
export function nameRedis(url: string): string {
  return parse(url).name;
}

function parse(url: string): RedisAddress {
  const address = readRedisAddress(url);
  if ('problem' in address) throw new ConfigError([`REDIS_URL ${address.problem}`]);
  return address;
}

function waitBeforeRetry(times: number): number {
  return Math.min(times * 200, LONGEST_RECONNECT_MS);
}

function clusterOptions({ host: _host, port: _port, db: _db, ...redisOptions }: RedisSettings) {
  return {
    redisOptions,
    clusterRetryStrategy: waitBeforeRetry,
    // A node's certificate is for its name, not for the address behind it.
    ...(redisOptions.tls !== undefined && {
      dnsLookup: (name: string, found: (error: null, address: string) => void) => found(null, name),
    }),
  } satisfies ClusterOptions;
}

/** Returns the client, with what BullMQ needs otherwise than ioredis has it; so are the connections made of it. */
function patched<C extends Redis | Cluster>(client: C): C {
  const duplicate = client.duplicate.bind(client) as (...args: unknown[]) => C;
  return Object.assign(client, {
    info: withoutPolicy(client),
    disconnect: endsAtOnce(client),
    duplicate: (...args: unknown[]) => patched(duplicate(...args)),
  });
}

// BullMQ would print a plain line about the policy on the console whenever it opens a connection, among lines of JSON.
function withoutPolicy(client: Redis | Cluster) {
  const info = client.info.bind(client) as (...args: unknown[]) => Promise<string>;
  return async (...args: unknown[]) => {
    const text = await info(...args);
    return typeof text === 'string' ? text.replace(/^maxmemory_policy:.*$/m, '') : text;
  };
}

// Where it has nothing to close, ioredis gives up the next try to connect, and says neither to whoever waits for the
// end nor to the commands that wait for the connection that it has ended: a worker could then not stop. Of a client
// that only waits to be used it says so at once.
function endsAtOnce(client: Redis | Cluster) {
  const disconnect = client.disconnect.bind(client);
  return (reconnect = false) => {
    if (!reconnect && hasNothingToClose(client)) client.status = 'wait';
    disconnect(reconnect);
  };
}

function hasNothingToClose(client: Redis | Cluster): boolean {
  if (client.status === 'reconnecting') return true;
  // A Cluster first looks up the names of its nodes.
  return client instanceof Cluster && client.status === 'connecting' && client.nodes().length === 0;
}
