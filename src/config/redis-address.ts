// Which addresses of a Redis are accepted: one server, the nodes of a Cluster, or the Sentinels that know the primary.

import { readAddressParameters } from './address-parameters.ts';

export interface RedisAddress {
  /** Of the server, of nodes of a Cluster, or of Sentinels. Never empty. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** What the Sentinels call the primary; null where the hosts are Redis itself. */
  readonly sentinelName: string | null;
  readonly username: string | null;
  readonly password: string | null;
  readonly sentinelPassword: string | null;
  readonly database: number;
  /** Files in PEM; null where the connection is in the clear. */
  readonly tls: {
    readonly ca: string | null;
    readonly cert: string | null;
    readonly key: string | null;
  } | null;
  /** Hosts, ports and the primary's name: what may be printed of it. */
  readonly name: string;
}

/** What is said of each that cannot be read. It never holds the text: a part of that may be the password. */
const FORM =
  'must look like redis://:password@host:6379/0, rediss://… with TLS, or redis+sentinel://…/name-of-the-primary: docs/deployment.md#redis has every form';
const ADDRESS =
  /^(?<scheme>rediss?)(?<sentinel>\+sentinel)?:\/\/(?:(?<username>[^/?#\s:]*):(?<password>[^/?#\s]+)@)?(?<hosts>[^/?#@\s]+)(?:\/(?<path>[^?#\s]*?)\/?)?(?:\?(?<query>[^#\s]*))?$/;
const HOST = /^(?:\[(?<bracketed>[\da-fA-F:.]+)\]|(?<plain>[^:[\]]+))(?::(?<port>\d{1,5}))?$/;
const PARAMETERS = ['ca', 'cert', 'key', 'sentinel-password'];
const DEFAULT_PORT = 6379;
const SENTINEL_PORT = 26_379;

/** Returns the address, or what is wrong with it: without anything that may be part of a password. */
export function readRedisAddress(text: string): RedisAddress | { readonly problem: string } {
  try {
    return read(text) ?? { problem: FORM };
  } catch {
    // A % that begins no escape.
    return { problem: FORM };
  }
}

/** Returns null where it cannot be read. Throws: URIError where a % begins no escape. */
function read(text: string): RedisAddress | null {
  const { scheme, sentinel, username, password, hosts, path, query } = ADDRESS.exec(text)?.groups ?? {};
  if (hosts === undefined) return null;
  const places = hosts.split(',').map((host) => readHost(host, sentinel ? SENTINEL_PORT : DEFAULT_PORT));
  const known = places.filter((place) => place !== null);
  const steps = (path ?? '').split('/');
  const sentinelName = sentinel ? (steps.shift() ?? '') : null;
  const [database = '', ...rest] = steps;
  const parameters = readAddressParameters(query ?? '');
  const parameter = (name: string) => parameters.get(name) ?? null;
  const tls = { ca: parameter('ca'), cert: parameter('cert'), key: parameter('key') };
  const isReadable =
    known.length === places.length &&
    sentinelName !== '' &&
    rest.length === 0 &&
    /^\d{0,5}$/.test(database) &&
    [...parameters.keys()].every((name) => PARAMETERS.includes(name)) &&
    (scheme === 'rediss' || (tls.ca ?? tls.cert ?? tls.key) === null) &&
    (tls.cert === null) === (tls.key === null) &&
    (sentinel !== undefined || !parameters.has('sentinel-password'));
  if (!isReadable) return null;
  const at = known.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(', ');
  return {
    hosts: known,
    sentinelName,
    username: username ? decodeURIComponent(username) : null,
    password: password === undefined ? null : decodeURIComponent(password),
    sentinelPassword: parameter('sentinel-password'),
    database: Number(database),
    tls: scheme === 'redis' ? null : tls,
    name: sentinelName === null ? at : `${sentinelName}, asked for at the Sentinels ${at}`,
  };
}

function readHost(text: string, defaultPort: number): { host: string; port: number } | null {
  const { bracketed, plain, port } = HOST.exec(text)?.groups ?? {};
  const host = bracketed ?? plain;
  return host === undefined || Number(port ?? 0) > 65_535
    ? null
    : { host, port: Number(port ?? defaultPort) };
}
