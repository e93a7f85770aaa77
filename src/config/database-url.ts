// Which addresses of a Postgres are accepted, and what their parts mean: as in libpq, so that psql can use the same
// one.
//
// It is read by hand, since `URL` knows neither an empty host with a user before it nor two hosts, and takes what
// follows a raw `#`, `/` or `?` in a password for another part of the address.

import { z } from 'zod';
import { readAddressParameters } from './address-parameters.ts';

export interface DatabaseAddress {
  /** A directory, beginning with a slash, where it is a Unix socket. Null where the address names none. */
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

const TLS_NAMES = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'sslnegotiation'] as const;
const EXAMPLE = 'must look like postgres://user:password@host:5432/database';
const ENCODE = 'in a user name or a password, write # as %23, / as %2F, ? as %3F, @ as %40 and % as %25';
const LARGEST_PORT = 65_535;

/** Accepts an address that can be used, and leaves it as it is. No message holds any part of it that may be secret. */
export const databaseUrlSchema = z.string().superRefine((text, context) => {
  const problem = parse(text);
  if (typeof problem === 'string') context.addIssue({ code: 'custom', message: problem });
});

/** Returns the parts of an accepted address. Throws: TypeError, without any part of it, on another one. */
export function readDatabaseUrl(text: string): DatabaseAddress {
  const address = parse(text);
  if (typeof address === 'string') throw new TypeError(`the address of a database ${address}`);
  return address;
}

/**
 * Returns an accepted address with the sslmode of PGSSLMODE, where it names none itself. What is wrong with that is
 * added to `problems`: pg would not say so, and read `require` as `verify-full`.
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

/** Returns the parts, or what is wrong. */
function parse(text: string): DatabaseAddress | string {
  const [, authority, path = '', query = ''] =
    /^postgres(?:ql)?:\/\/([^/?#\s]*)(\/[^?#\s]*)?(?:\?([^#\s]*))?$/.exec(text) ?? [];
  // The text is not shown: what cannot be read may be the password.
  if (authority === undefined) return text.includes('#') ? `holds a raw #: ${ENCODE}` : EXAMPLE;
  const at = authority.lastIndexOf('@');
  const [user = '', password] = splitOnce(authority.slice(0, Math.max(at, 0)), ':');
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(authority.slice(at + 1)) ?? [];
  try {
    const parameters = readParameters(query);
    if (parameters === null || path.lastIndexOf('/') > 0 || `${path}${query}`.includes('@')) {
      return `has a raw /, ? or @ where none belongs: ${ENCODE}`;
    }
    const parts = {
      host: parameters.get('host') ?? emptyAsNull(decodeURIComponent(host.replace(/^\[(.*)\]$/, '$1'))),
      user: parameters.get('user') ?? emptyAsNull(decodeURIComponent(user)),
      password: parameters.get('password') ?? emptyAsNull(decodeURIComponent(password ?? '')),
      database: parameters.get('dbname') ?? emptyAsNull(decodeURIComponent(path.slice(1))),
      options: parameters.get('options') ?? null,
    };
    const named = parameters.get('port') ?? emptyAsNull(port ?? '');
    return findProblem(authority, parts.host, named, parameters) ?? { ...parts, ...rest(named, parameters) };
  } catch {
    return `has a % that begins no %XX: ${ENCODE}`;
  }
}

/** Returns null where a name is none, as after a raw question mark in a password. */
function readParameters(query: string): ReadonlyMap<string, string> | null {
  // Programs write the blanks of options as +, which has no other meaning there.
  const spelled = query.replaceAll(/(?<=^|&)options=[^&]*/g, (options) => options.replaceAll('+', '%20'));
  const pairs = [...readAddressParameters(spelled)].filter(([, value]) => value !== '');
  return pairs.every(([name]) => /^\w+$/.test(name)) ? new Map(pairs) : null;
}

function findProblem(
  authority: string,
  host: string | null,
  port: string | null,
  parameters: ReadonlyMap<string, string>,
): string | null {
  if (`${host ?? ''}${authority.slice(authority.lastIndexOf('@') + 1)}`.includes(',')) {
    return 'names several hosts: give the one that takes writes';
  }
  if (port !== null && !(/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= LARGEST_PORT)) {
    return `must have a port from 1 to ${LARGEST_PORT} (${ENCODE})`;
  }
  for (const name of parameters.keys()) {
    if (name.startsWith('ssl') && !TLS_NAMES.some((known) => known === name)) {
      return `names ${name}, which is not supported: TLS is set up by ${TLS_NAMES.join(', ')}`;
    }
  }
  return findTlsProblem(parameters);
}

function findTlsProblem(parameters: ReadonlyMap<string, string>): string | null {
  const mode = parameters.get('sslmode');
  if (mode === 'prefer' || mode === 'allow') {
    return `says sslmode=${mode}, which leaves it to the server whether anything is encrypted: say require, verify-full or disable`;
  }
  if (mode !== undefined && !SSL_MODES.some((known) => known === mode)) {
    return 'has an unknown sslmode: say disable, require, verify-ca or verify-full';
  }
  const root = parameters.get('sslrootcert');
  if (mode === 'verify-ca' && root === undefined) {
    return 'says sslmode=verify-ca, which needs sslrootcert: add the file of your CA, or say verify-full';
  }
  if (root === 'system' && mode !== undefined && mode !== 'verify-full') {
    return `says sslrootcert=system with sslmode=${mode}: a public CA proves a host only with sslmode=verify-full`;
  }
  const negotiation = parameters.get('sslnegotiation');
  if (negotiation !== undefined && !['postgres', 'direct'].includes(negotiation)) {
    return 'has an unknown sslnegotiation: say postgres or direct';
  }
  return parameters.has('sslcert') === parameters.has('sslkey')
    ? null
    : 'must name sslcert and sslkey together: one is of no use without the other';
}

function rest(port: string | null, parameters: ReadonlyMap<string, string>) {
  const mode = SSL_MODES.find((known) => known === parameters.get('sslmode')) ?? null;
  return {
    port: port === null ? null : Number(port),
    tls: {
      sslmode: mode,
      sslrootcert: parameters.get('sslrootcert') ?? null,
      sslcert: parameters.get('sslcert') ?? null,
      sslkey: parameters.get('sslkey') ?? null,
      sslnegotiation: parameters.get('sslnegotiation') ?? null,
    },
  };
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

function emptyAsNull(text: string): string | null {
  return text === '' ? null : text;
}
