// Why Redis cannot be reached or refuses, in words and without anything of the password.

import type { RedisAddress } from '../config/redis-address.ts';
import { describeError, describeUntrusted, errorCode } from '../describe-error.ts';

/** By the word that Redis begins its refusals with, or the beginning where it has none. */
const REFUSALS: readonly (readonly [string, (address: RedisAddress) => string])[] = [
  ['WRONGPASS', (address) => `it refuses the user or the password ${placeOf(address)}`],
  ['NOAUTH', (address) => `it wants a password, and there is none ${placeOf(address)}`],
  ['ERR DB index', noDatabase],
  ['ERR SELECT is not allowed in cluster mode', noDatabase],
];

function placeOf({ sentinelName }: RedisAddress): string {
  return sentinelName === null
    ? 'in REDIS_URL'
    : 'in REDIS_URL for the Sentinels: it is ?sentinel-password=…';
}

function noDatabase({ database }: RedisAddress): string {
  return `it has no database ${database}: end REDIS_URL in the number of one that it has (a Cluster has only 0)`;
}

/** What a broken connection most often means, by the system's name for it. */
function guess(code: string, { tls }: RedisAddress): string | null {
  if (code === 'ECONNREFUSED') return 'is Redis running there?';
  if (code === 'ENOTFOUND') return 'is the name right?';
  if (code === 'ETIMEDOUT' && tls !== null)
    return 'does it speak TLS? without it, REDIS_URL begins with redis://';
  const isCut = code === 'ECONNRESET' || code === 'EPIPE' || code === 'EPROTO';
  if (isCut && tls === null) return 'is it Redis? If it wants TLS, REDIS_URL begins with rediss://';
  return isCut ? 'does Redis speak TLS there?' : null;
}

/** Returns why a connection or a command failed, without anything of the password. */
export function explainRedis(thrown: unknown, address: RedisAddress): string {
  // Of a Cluster none of whose nodes answers; its own message does not say why.
  const error = thrown instanceof Error && 'lastNodeError' in thrown ? thrown.lastNodeError : thrown;
  const text = describeError(error);
  const refusal = REFUSALS.find(([beginning]) => text.startsWith(beginning));
  if (refusal !== undefined) return refusal[1](address);
  if (text.startsWith('NOPERM')) return `${text}: docs/deployment.md lists the commands that its user needs`;
  if (text === 'Connection is closed.') return 'it closed the connection without a word: is it Redis?';
  const untrusted = describeUntrusted(error, 'REDIS_URL (?ca=FILE) or NODE_EXTRA_CA_CERTS');
  if (untrusted !== null) return untrusted;
  const hint = guess(errorCode(error), address);
  return hint === null ? text : `${text} (${hint})`;
}
