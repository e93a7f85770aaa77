// Why Redis cannot be reached or refuses: in its own words or the system's, which have nothing of the password.

import type { RedisAddress } from '../config/redis-address.ts';
import { describeError, describeUntrusted } from '../describe-error.ts';

/** Returns why a connection or a command failed, and what to check. */
export function explainRedis(thrown: unknown, { tls, sentinelName }: RedisAddress): string {
  // Of a Cluster none of whose nodes answers; its own message does not say why.
  const error = thrown instanceof Error && 'lastNodeError' in thrown ? thrown.lastNodeError : thrown;
  const untrusted = describeUntrusted(error, 'REDIS_URL (?ca=FILE) or NODE_EXTRA_CA_CERTS');
  if (untrusted !== null) return untrusted;
  // Redis' own sentence is about HELLO, which the user never sent.
  const text = describeError(error).replace(/^NOAUTH .*/, 'it wants a password');
  if (text.startsWith('NOPERM')) return `${text}: docs/deployment.md lists the commands that its user needs`;
  const login = `user, password${sentinelName === null ? '' : ', those of the Sentinels'}`;
  const encryption = tls === null ? 'without TLS (with it: rediss://)' : 'with TLS (without: redis://)';
  return `${text} (check host, port, ${login} and database of REDIS_URL, which is ${encryption})`;
}
