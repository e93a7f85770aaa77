// Checks a Redis over a connection without retries, before the lasting one is made: a start that fails can say why, and
// a Redis that cannot hold a queue (a replica, a database that does not exist) is refused with its own message or the
// system's, neither of which contains the password.

import { readFileSync } from 'node:fs';
import type { ConnectionOptions as TlsOptions } from 'node:tls';
import { Redis, type RedisOptions } from 'ioredis';
import { describeError, describeTls, networkCode } from '../../base/describe-error.ts';
import { ConfigError, DatabaseUnreachable } from '../../base/errors.ts';
import { within } from '../../base/within.ts';
import type { RedisAddress } from '../../config/process/redis-address.ts';

/** The longest wait for an answer. */
const ANSWER_TIMEOUT_MS = 5000;
/** For connecting: shorter, so that there is time to say what happened. */
const CONNECT_TIMEOUT_MS = 3000;
/** BullMQ recommends it, and prints a plain line about every older one. */
const OLDEST_VERSION = [6, 2] as const;
/** The only policy that never evicts jobs. */
const SAFE_POLICY = 'noeviction';

/** The options of a connection, as ioredis names them. */
type RedisSettings = Omit<RedisOptions, 'replyMapping'>;

/**
 * Checks that the Redis can hold the queue. Returns settings of the server that endanger it.
 *
 * Throws: DatabaseUnreachable, saying why; ConfigError if a file that the address names cannot be read.
 */
export async function checkRedis(address: RedisAddress): Promise<readonly string[]> {
  const { name } = address;
  const info = await readInfo(address);
  const field = (key: string) => fieldOf(info, key);
  const version = field('redis_version') ?? '';
  if (isOlder(version)) {
    throw refuse(name, `it is version ${version}, and the queue needs ${OLDEST_VERSION.join('.')} or newer`);
  }
  if (field('role') === 'slave') {
    throw refuse(name, 'it is a replica, which only reads: give the address of its primary');
  }
  if (field('cluster_enabled') === '1') {
    throw refuse(name, 'it is a node of a Cluster: give the queue a server of its own');
  }
  const policy = field('maxmemory_policy');
  if (policy === undefined || policy === SAFE_POLICY) return [];
  return [
    `Redis at ${name} has the maxmemory-policy ${policy}, and may throw the queue away when its memory is full: set it to ${SAFE_POLICY}`,
  ];
}

function fieldOf(info: string, key: string): string | undefined {
  return new RegExp(`^${key}:(.*?)\\r?$`, 'm').exec(info)?.[1];
}

function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_VERSION;
  return version !== '' && (major < oldestMajor || (major === oldestMajor && minor < oldestMinor));
}

/** Throws: DatabaseUnreachable, saying why. */
async function readInfo(address: RedisAddress): Promise<string> {
  const client = new Redis({
    ...redisSettings(address),
    lazyConnect: true,
    // Redis that still loads its data would be waited for without a word.
    enableReadyCheck: false,
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: () => null,
  });
  // ioredis reports failures by events; its promise says only that the connection is closed. A database that does not
  // exist is such an event too, after which ioredis would go on in another one.
  let failure: unknown = null;
  client.on('error', (error) => {
    failure ??= error;
  });
  try {
    const info = await within(
      ANSWER_TIMEOUT_MS,
      client.connect().then(() => client.info()),
    );
    if (failure === null) return info;
  } catch (error) {
    failure ??= error;
  } finally {
    client.disconnect();
  }
  throw refuse(address.name, explainRedis(failure, address));
}

/** Returns why a connection or a command failed, and what to check. */
export function explainRedis(error: unknown, { tls }: RedisAddress): string {
  const untrusted = describeTls(networkCode(error), 'REDIS_URL (?ca=FILE) or NODE_EXTRA_CA_CERTS');
  if (untrusted !== null) return untrusted;
  // Redis' own sentence is about HELLO, which the user never sent.
  const text = describeError(error).replace(/^NOAUTH .*/, 'it wants a password');
  if (text.startsWith('NOPERM')) return `${text}: docs/deployment.md lists the commands that its user needs`;
  const encryption = tls === null ? 'without TLS (with it: rediss://)' : 'with TLS (without: redis://)';
  return `${text} (check host, port, user, password and database of REDIS_URL, which is ${encryption})`;
}

function refuse(name: string, reason: string): DatabaseUnreachable {
  return new DatabaseUnreachable(`the queue cannot be kept in Redis at ${name}: ${reason}`);
}

/**
 * Returns how a connection is made.
 *
 * Throws: ConfigError if a file that the address names cannot be read.
 */
export function redisSettings({
  host,
  port,
  username,
  password,
  database,
  tls,
}: RedisAddress): RedisSettings {
  return {
    host,
    port,
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(tls !== null && { tls: readCertificates(tls) }),
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
