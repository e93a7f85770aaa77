// Makes pg's options from an address: its parts, and TLS as in libpq.
//
// Decision: `sslmode` means the same as for psql, because one DATABASE_URL serves both. (pg 8 by itself treats require
// and verify-ca as verify-full, so that addresses of providers fail at a private CA; pg 9 will do as we do.) Without
// `sslmode`, a certificate file asks for verify-full, and else the connection is not encrypted. Only `options` of the
// address itself are sent as startup options, because poolers refuse those.

import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { type ConnectionOptions, getCACertificates } from 'node:tls';
import { Client, type ClientConfig } from 'pg';
import { describeError } from '../../base/describe-error.ts';
import { ConfigError } from '../../base/errors.ts';
import { readDatabaseUrl, type TlsParameters } from '../../config/process/database-url.ts';

/** Longest wait for a connection: a database that is down must not make a command hang. */
const CONNECT_TIMEOUT_MS = 10_000;
/**
 * A silent connection is probed after this, so that a server without power is given up within a minute, and not after
 * the two hours of Linux. The server probes us in the same way (session.ts).
 */
const PROBE_AFTER_MS = 30_000;

/**
 * Returns pg's options, with the password.
 *
 * Throws: ConfigError if a file that the address names cannot be used, or no user is named.
 */
export function connectionConfig(url: string): ClientConfig & { readonly connectionTimeoutMillis: number } {
  const { host, port, user, password, database, options, tls } = readDatabaseUrl(url);
  // Missing parts come from PGHOST and the like, as with psql. A socket is never encrypted.
  const ssl = host?.startsWith('/') === true ? false : tlsOptions(tls);
  return {
    ...(host !== null && { host }),
    ...(port !== null && { port }),
    user: user ?? new Client().user ?? nameSystemUser(),
    ...(password !== null && { password }),
    ...(database !== null && { database }),
    ...(options !== null && { options }),
    ...(ssl !== undefined && { ssl }),
    ...(ssl !== false && tls.sslnegotiation === 'direct' && { sslnegotiation: 'direct' as const }),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: PROBE_AFTER_MS,
  };
}

/** As psql does. pg knows only PGUSER and USER, and cron and containers set no USER. */
function nameSystemUser(): string {
  try {
    return userInfo().username;
  } catch {
    throw new ConfigError([
      'DATABASE_URL names no user, and the user of this process has no name: write postgres://user:password@host:5432/database',
    ]);
  }
}

function tlsOptions(tls: TlsParameters): boolean | ConnectionOptions | undefined {
  const { sslrootcert, sslcert, sslkey } = tls;
  const isNamed = [sslrootcert, sslcert, tls.sslnegotiation].some((part) => part !== null);
  const mode = tls.sslmode ?? (isNamed ? 'verify-full' : null);
  if (mode === null) return undefined;
  if (mode === 'disable') return false;
  // With a CA, libpq checks the chain in mode require too.
  const isChecked = mode === 'verify-full' || (mode !== 'no-verify' && sslrootcert !== null);
  return {
    rejectUnauthorized: isChecked,
    ...(isChecked &&
      sslrootcert !== null && {
        ca: sslrootcert === 'system' ? getCACertificates('system') : readNamed('sslrootcert', sslrootcert),
      }),
    ...(isChecked && mode !== 'verify-full' && { checkServerIdentity: () => undefined }),
    ...(sslcert !== null && { cert: readNamed('sslcert', sslcert) }),
    ...(sslkey !== null && { key: readNamed('sslkey', sslkey) }),
  };
}

function readNamed(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError([`DATABASE_URL names ${parameter}: ${describeError(error)}`]);
  }
}
