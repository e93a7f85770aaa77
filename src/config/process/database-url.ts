// The address of a Postgres, as libpq reads it, so that psql takes the same one.
//
// Not read by `URL`: that refuses an empty host after a user, knows no second host, and ends a password at a raw `#`,
// `/` or `?`.

import { readAddressParameters } from '../address-parameters.ts';
import { reading } from '../reading.ts';

export interface DatabaseAddress {
  /** For a Unix socket, a directory with a slash first. Null if the address names none. */
  readonly host: string | null;
  readonly port: number | null;
  readonly user: string | null;
  readonly password: string | null;
  readonly database: string | null;
  /** Startup options for Postgres, as psql takes them: `-c name=value`. */
  readonly options: string | null;
  readonly tls: TlsParameters;
}

export interface TlsParameters {
  readonly sslmode: SslMode | null;
  readonly sslrootcert: string | null;
  readonly sslcert: string | null;
  readonly sslkey: string | null;
  readonly sslnegotiation: string | null;
}

const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full', 'no-verify'] as const;
export type SslMode = (typeof SSL_MODES)[number];

const EXAMPLE = 'must look like postgres://user:password@host:5432/database';
const ENCODE = 'in a user name or a password, write # as %23, / as %2F, ? as %3F, @ as %40 and % as %25';
const LARGEST_PORT = 65_535;

/** Leaves a usable address unchanged. No message quotes a part that may be secret. */
export const databaseUrlSchema = reading((text, refuse) => {
  const address = parse(text);
  return typeof address === 'string' ? refuse(address) : text;
});

/** Returns the parts of an accepted address. Throws: TypeError, which quotes no part, on another one. */
export function readDatabaseUrl(text: string): DatabaseAddress {
  const address = parse(text);
  if (typeof address === 'string') throw new TypeError(`the address of a database ${address}`);
  return address;
}

/**
 * Returns an accepted address with the sslmode of PGSSLMODE, if it names none itself. Problems are added to `problems`:
 * pg would not report them, and reads `require` as `verify-full`.
 */
export function withSslMode(text: string, mode: string | undefined, problems: string[]): string {
  const { host, tls } = readDatabaseUrl(text);
  // A socket is never encrypted.
  if (mode === undefined || tls.sslmode !== null || host?.startsWith('/') === true) return text;
  const named = `${text}${text.includes('?') ? '&' : '?'}sslmode=${encodeURIComponent(mode)}`;
  const problem = parse(named);
  if (typeof problem !== 'string') return named;
  problems.push(`PGSSLMODE ${problem}`);
  return text;
}

/** Returns the parts, or the problem. */
function parse(text: string): DatabaseAddress | string {
  const [, authority, path = '', query = ''] =
    /^postgres(?:ql)?:\/\/([^/?#\s]*)(\/[^?#\s]*)?(?:\?([^#\s]*))?$/.exec(text) ?? [];
  // The text is not quoted: it may hold the password.
  if (authority === undefined) return text.includes('#') ? `holds a raw #: ${ENCODE}` : EXAMPLE;
  const at = authority.lastIndexOf('@');
  const [, user, password] = /^([^:]*):?(.*)$/.exec(authority.slice(0, Math.max(at, 0))) ?? [];
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(authority.slice(at + 1)) ?? [];
  try {
    const parameters = readParameters(query);
    if (parameters === null || path.lastIndexOf('/') > 0 || `${path}${query}`.includes('@')) {
      return `has a raw /, ? or @ where none belongs: ${ENCODE}`;
    }
    const part = (name: string, spelled = '') =>
      parameters.get(name) ?? (decodeURIComponent(spelled) || null);
    const parts = {
      host: part('host', host.replace(/^\[(.*)\]$/, '$1')),
      port: part('port', port),
      user: part('user', user),
      password: part('password', password),
      database: part('dbname', path.slice(1)),
      options: part('options'),
    };
    const tls = {
      sslmode: SSL_MODES.find((known) => known === part('sslmode')) ?? null,
      sslrootcert: part('sslrootcert'),
      sslcert: part('sslcert'),
      sslkey: part('sslkey'),
      sslnegotiation: part('sslnegotiation'),
    };
    const problem = findProblem(parts) ?? findTlsProblem(tls, parameters);
    return problem ?? { ...parts, port: parts.port === null ? null : Number(parts.port), tls };
  } catch {
    return `has a % that begins no %XX: ${ENCODE}`;
  }
}

/** Returns null if a name is malformed, as after a raw question mark in a password. */
function readParameters(query: string): ReadonlyMap<string, string> | null {
  // Other software writes the blanks of options as +, which has no other meaning there.
  const spelled = query.replaceAll(/(?<=^|&)options=[^&]*/g, (options) => options.replaceAll('+', '%20'));
  const pairs = [...readAddressParameters(spelled)].filter(([, value]) => value !== '');
  return pairs.every(([name]) => /^\w+$/.test(name)) ? new Map(pairs) : null;
}

function findProblem({ host, port }: { host: string | null; port: string | null }): string | null {
  if (`${host ?? ''}${port ?? ''}`.includes(','))
    return 'names several hosts: give the one that takes writes';
  if (port !== null && !(/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= LARGEST_PORT)) {
    return `must have a port from 1 to ${LARGEST_PORT} (${ENCODE})`;
  }
  return null;
}

function findTlsProblem(tls: TlsParameters, parameters: ReadonlyMap<string, string>): string | null {
  const { sslmode: mode, sslrootcert: root } = tls;
  const unknown = [...parameters.keys()].find((name) => name.startsWith('ssl') && !(name in tls));
  if (unknown !== undefined) {
    return `names ${unknown}, which is not supported: TLS is set up by ${Object.keys(tls).join(', ')}`;
  }
  if (mode === null && parameters.has('sslmode')) {
    return 'has an sslmode that is unknown, or leaves it to the server whether anything is encrypted: say disable, require, verify-ca or verify-full';
  }
  if (mode === 'verify-ca' && root === null) {
    return 'says sslmode=verify-ca, which needs sslrootcert: add the file of your CA, or say verify-full';
  }
  if (root === 'system' && mode !== null && mode !== 'verify-full') {
    return `says sslrootcert=system with sslmode=${mode}: a public CA proves a host only with sslmode=verify-full`;
  }
  return (tls.sslcert === null) === (tls.sslkey === null)
    ? null
    : 'must name sslcert and sslkey together: one is of no use without the other';
}
