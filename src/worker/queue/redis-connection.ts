// Connects to Redis: one server, with or without TLS, a password, a user of its own. The connection is made again
// whenever it is lost. No Sentinels and no Cluster: a queue that loses everything has lost nothing, and without
// REDIS_URL it is in Postgres.

import { Redis } from 'ioredis';
import { describeError } from '../../base/describe-error.ts';
import { AppError, ConfigError, DatabaseUnreachable } from '../../base/errors.ts';
import { type RedisAddress, readRedisAddress } from '../../config/process/redis-address.ts';
import { checkRedis, explainRedis, redisSettings } from './check-redis.ts';

/** A Redis that is back is found within this. Source: measured; ioredis' own pause grows to 20 s. */
const LONGEST_RECONNECT_MS = 2000;

export interface RedisConnection {
  /** For BullMQ, which makes one more connection of it for each worker. */
  readonly client: Redis;
  /** Host and port, without the password. */
  readonly name: string;
  /** Settings of the server that endanger the queue; a worker starts all the same. */
  readonly warnings: readonly string[];
  isConnected(): boolean;
  /** Returns the error to report of a queue that failed with the error, or because the connection is lost. */
  asUnreachable(error: unknown): AppError;
}

/**
 * Returns a connection that is kept, and made again whenever it is lost.
 *
 * Throws: DatabaseUnreachable, saying why; ConfigError if a file that the address names cannot be read.
 */
export async function connectToRedis(url: string, warn: (error: unknown) => void): Promise<RedisConnection> {
  const address = parse(url);
  const warnings = await checkRedis(address);
  const name = `Redis at ${address.name}`;
  const client = patched(
    new Redis({
      ...redisSettings(address),
      // With a limit, a job that ends while Redis is away could never be ended.
      maxRetriesPerRequest: null,
      retryStrategy: (times) => Math.min(times * 200, LONGEST_RECONNECT_MS),
      // After a failover an old primary goes on answering, and refuses every write: connect anew, and send it there.
      reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
    }),
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
    name,
    warnings,
    isConnected: () => ['ready', 'connecting', 'connect'].includes(client.status),
    asUnreachable(error) {
      if (error instanceof AppError) return error;
      const why = lastFailure ?? describeError(error);
      return new DatabaseUnreachable(`the queue in ${name} does not answer: ${why}`);
    },
  };
}

function parse(url: string): RedisAddress {
  const address = readRedisAddress(url);
  if ('problem' in address) throw new ConfigError([`REDIS_URL ${address.problem}`]);
  return address;
}

/** Returns the client with the changes that BullMQ needs; the connections made of it have them too. */
function patched(client: Redis): Redis {
  const duplicate = client.duplicate.bind(client);
  return Object.assign(client, {
    info: withoutPolicy(client),
    disconnect: endsAtOnce(client),
    duplicate: (...args: Parameters<typeof duplicate>) => patched(duplicate(...args)),
  });
}

// BullMQ would print a plain line about the policy on the console whenever it opens a connection, among lines of JSON.
function withoutPolicy(client: Redis) {
  const info = client.info.bind(client) as (...args: unknown[]) => Promise<string>;
  return async (...args: unknown[]) => {
    const text = await info(...args);
    return typeof text === 'string' ? text.replace(/^maxmemory_policy:.*$/m, '') : text;
  };
}

// If there is nothing to close, ioredis gives up the next try to connect without saying so, neither by its event nor to
// the commands that wait for the connection: a worker could then not stop. For a client with the status `wait` it says
// so at once.
function endsAtOnce(client: Redis) {
  const disconnect = client.disconnect.bind(client);
  return (reconnect = false) => {
    if (!reconnect && client.status === 'reconnecting') client.status = 'wait';
    disconnect(reconnect);
  };
}
