// The address of a Redis server.

import { readAddressParameters } from '../address-parameters.ts';

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  readonly username: string | null;
  readonly password: string | null;
  readonly database: number;
  /** Files in PEM; null if the connection is in the clear. */
  readonly tls: {
    readonly ca: string | null;
    readonly cert: string | null;
    readonly key: string | null;
  } | null;
  /** Host and port, without secrets. */
  readonly name: string;
}

/** Does not quote the address, which may hold a password. */
const FORM =
  'must look like redis://:password@host:6379/0, or rediss://… with TLS: docs/deployment.md#redis has every form';
const ADDRESS =
  /^(?<scheme>rediss?):\/\/(?:(?<username>[^/?#\s:]*):(?<password>[^/?#\s]+)@)?(?:\[(?<bracketed>[\da-fA-F:.]+)\]|(?<plain>[^:[\]/?#@,\s]+))(?::(?<port>\d{1,5}))?(?:\/(?<database>\d{0,5})\/?)?(?:\?(?<query>[^#\s]*))?$/;
const PARAMETERS = ['ca', 'cert', 'key'];
const DEFAULT_PORT = 6379;

/** Returns the address, or its problem without any part of a password. */
export function readRedisAddress(text: string): RedisAddress | { readonly problem: string } {
  try {
    return read(text) ?? { problem: FORM };
  } catch {
    // A raw % that begins no escape.
    return { problem: FORM };
  }
}

/** Returns null if it is malformed. Throws: URIError if a % begins no escape. */
function read(text: string): RedisAddress | null {
  const parts = ADDRESS.exec(text)?.groups ?? {};
  const { scheme, username, password, bracketed, plain, database = '', query = '' } = parts;
  const host = bracketed ?? plain;
  const port = Number(parts['port'] ?? DEFAULT_PORT);
  const parameters = readAddressParameters(query);
  const parameter = (name: string) => parameters.get(name) ?? null;
  const tls = { ca: parameter('ca'), cert: parameter('cert'), key: parameter('key') };
  const isReadable =
    port <= 65_535 &&
    [...parameters.keys()].every((name) => PARAMETERS.includes(name)) &&
    (scheme === 'rediss' || (tls.ca ?? tls.cert ?? tls.key) === null) &&
    (tls.cert === null) === (tls.key === null);
  if (host === undefined || !isReadable) return null;
  return {
    host,
    port,
    username: username ? decodeURIComponent(username) : null,
    password: password === undefined ? null : decodeURIComponent(password),
    database: Number(database),
    tls: scheme === 'redis' ? null : tls,
    name: `${bracketed === undefined ? host : `[${host}]`}:${port}`,
  };
}
