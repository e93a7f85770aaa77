// Looks at a Redis over a connection that is not tried again, before one is made that is: so a start that fails can say
// why, and a Redis that cannot keep a queue (a replica, a database that does not exist) is refused in words.

import { readFileSync } from 'node:fs';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from '../config/redis-address.ts';
import { describeError } from '../describe-error.ts';
import { ConfigError, DatabaseUnreachable } from '../errors.ts';
import { within } from '../within.ts';
import { explainRedis } from './redis-failure.ts';

/** The longest wait for an answer. */
const LOOK_TIMEOUT_MS = 5000;
/** For connecting: shorter, so that there is time to say what happened. */
const CONNECT_TIMEOUT_MS = 3000;
/** The only policy that never throws away what is in the queue. */
const SAFE_POLICY = 'noeviction';

/** What a connection needs to be made; as ioredis names it. */
export type RedisSettings = Omit<RedisOptions, 'replyMapping'>;

export interface Looked {
  readonly isCluster: boolean;
  readonly warnings: readonly string[];
}

/**
 * Returns what is to be known of the Redis before a queue is kept in it. Any node of a Cluster knows the others: of
 * several hosts the first that answers is looked at, and of Sentinels the first that knows the primary is believed.
 *
 * Throws: DatabaseUnreachable, saying why; ConfigError where a file that the address names cannot be read.
 */
export async function lookAtRedis(address: RedisAddress): Promise<Looked> {
  const servers = address.sentinelName === null ? address : await findPrimary(address, address.sentinelName);
  const { server, answer } = await askFirst(servers, (client) => client.info());
  return judge(address, server, answer);
}

async function findPrimary(address: RedisAddress, name: string): Promise<RedisAddress> {
  const { server, answer } = await askFirst(address, (client) =>
    client.call('SENTINEL', 'get-master-addr-by-name', name),
  );
  if (!Array.isArray(answer))
    throw refuse(address.name, `the Sentinel ${server} knows no primary of that name`);
  const [host, port] = answer.map(String);
  return { ...address, hosts: [{ host: host ?? '', port: Number(port) }], sentinelName: null };
}

function judge(address: RedisAddress, name: string, info: string): Looked {
  const field = (key: string) => fieldOf(info, key);
  if (field('role') === 'slave') {
    throw refuse(
      name,
      'it is a replica, which only reads: give the address of its primary, or of its Sentinels',
    );
  }
  const isCluster = field('cluster_enabled') === '1';
  if (!isCluster && address.sentinelName === null && address.hosts.length > 1) {
    throw refuse(
      name,
      'REDIS_URL names several hosts, and this one is no Cluster: name one, or the Sentinels',
    );
  }
  const policy = field('maxmemory_policy');
  if (isFull(info)) throw refuse(name, MEMORY_FULL);
  return {
    isCluster,
    warnings: isSafePolicy(policy)
      ? []
      : [
          `Redis at ${name} has the maxmemory-policy ${policy}, and may throw the queue away when its memory is full: set it to ${SAFE_POLICY}`,
        ],
  };
}

export const MEMORY_FULL = 'its memory is full (maxmemory), and it takes no writes: give it more';

/** Returns whether the Redis of this INFO refuses writes for want of memory. */
export function isFull(info: string): boolean {
  const number = (key: string) => Number(fieldOf(info, key) ?? 0);
  const most = number('maxmemory');
  return most > 0 && number('used_memory') >= most && isSafePolicy(fieldOf(info, 'maxmemory_policy'));
}

/** Returns whether nothing is ever thrown away; where Redis does not say, it is taken to be so. */
function isSafePolicy(policy: string | undefined): boolean {
  return policy === undefined || policy === SAFE_POLICY;
}

function fieldOf(info: string, key: string): string | undefined {
  return new RegExp(`^${key}:(.*?)\\r?$`, 'm').exec(info)?.[1];
}

/** Returns what the first host that answers does; an address of Sentinels asks these. Throws: DatabaseUnreachable. */
async function askFirst<T>(
  address: RedisAddress,
  question: (client: Redis) => Promise<T>,
): Promise<{ server: string; answer: T }> {
  const failures: string[] = [];
  for (const { host, port } of address.hosts) {
    const server = `${host}:${port}`;
    const asked = await ask({ ...address, hosts: [{ host, port }] }, question);
    if ('answer' in asked) return { server, answer: asked.answer };
    failures.push(address.hosts.length > 1 ? `${server}: ${asked.failure}` : asked.failure);
  }
  throw refuse(address.name, failures.join('; '));
}

async function ask<T>(
  address: RedisAddress,
  question: (client: Redis) => Promise<T>,
): Promise<{ readonly answer: T } | { readonly failure: string }> {
  const client = new Redis({
    ...(address.sentinelName === null ? redisSettings(address) : sentinelSettings(address)),
    lazyConnect: true,
    // Redis that still loads its data would be waited for without a word.
    enableReadyCheck: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: () => null,
  });
  // ioredis reports what went wrong by events, and of the promise says only that the connection is closed. A database
  // that does not exist is such an event too, after which it would go on in another one.
  let failure: unknown = null;
  client.on('error', (error) => {
    failure ??= error;
  });
  try {
    const answer = await within(
      LOOK_TIMEOUT_MS,
      client.connect().then(() => question(client)),
    );
    return failure === null ? { answer } : { failure: explainRedis(failure, address) };
  } catch (error) {
    return { failure: explainRedis(failure ?? error, address) };
  } finally {
    client.disconnect();
  }
}

function refuse(name: string, reason: string): DatabaseUnreachable {
  return new DatabaseUnreachable(`the queue cannot be kept in Redis at ${name}: ${reason}`);
}

function sentinelSettings({ hosts, sentinelPassword, tls }: RedisAddress): RedisSettings {
  const [first] = hosts;
  return {
    ...first,
    ...(sentinelPassword !== null && { password: sentinelPassword }),
    ...(tls !== null && { tls: readCertificates(tls) }),
  };
}

/**
 * Returns how a connection is made.
 *
 * Throws: ConfigError where a file that the address names cannot be read.
 */
export function redisSettings(address: RedisAddress): RedisSettings {
  const { hosts, sentinelName, username, password, sentinelPassword, database } = address;
  const tls = address.tls === null ? null : readCertificates(address.tls);
  const [first] = hosts;
  return {
    ...(sentinelName === null
      ? { ...first }
      : {
          sentinels: [...hosts],
          name: sentinelName,
          ...(sentinelPassword !== null && { sentinelPassword }),
          ...(tls !== null && { sentinelTLS: tls, enableTLSForSentinelMode: true }),
        }),
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(tls !== null && { tls }),
    db: database,
    connectionName: 'affiliate-mirror',
  };
}

function readCertificates(files: NonNullable<RedisAddress['tls']>): TlsOptions {
  const given = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== null);
  return Object.fromEntries(
    given.map(([name, path]) => {
      try {
        return [name, readFileSync(path)];
      } catch (error) {
        throw new ConfigError([
          `REDIS_URL names ${path} as ${name}, which cannot be read (${describeError(error)})`,
        ]);
      }
    }),
  );
}
