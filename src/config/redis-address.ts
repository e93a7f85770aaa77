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

const FORM = 'must look like redis://:password@host:6379/0';
const SENTINEL_FORM =
  'must look like redis+sentinel://:password@host1:26379,host2:26379/name-of-the-primary/0';
const PARAMETERS = ['ca', 'cert', 'key', 'sentinel-password'];
const BAD_ESCAPE = 'holds a % that begins no escape: write it as %25';
const DEFAULT_PORT = 6379;
const SENTINEL_PORT = 26_379;

/** Returns the address, or what is wrong with it: without anything that may be part of a password. */
export function readRedisAddress(text: string): RedisAddress | { readonly problem: string } {
  const match =
    /^(?<scheme>rediss?)(?<sentinel>\+sentinel)?:\/\/(?:(?<login>[^/?#\s]*)@)?(?<hosts>[^/?#@\s]+)(?<path>\/[^?#\s]*)?(?:\?(?<query>[^#\s]*))?$/.exec(
      text,
    );
  const { scheme, sentinel, login = '', hosts = '', path = '', query = '' } = match?.groups ?? {};
  const isSentinel = sentinel !== undefined;
  const form = isSentinel ? SENTINEL_FORM : FORM;
  if (match === null) return { problem: form };
  const places = hosts.split(',').map((host) => readHost(host, isSentinel ? SENTINEL_PORT : DEFAULT_PORT));
  const steps = path.replace(/^\/|\/$/g, '').split('/');
  const sentinelName = isSentinel ? (steps.shift() ?? '') : null;
  const [database = '', ...rest] = steps;
  if (sentinelName === '' || rest.length > 0 || !/^\d{0,5}$/.test(database)) return { problem: form };
  if (places.some((place) => place === null)) return { problem: form };
  const account = readLogin(login);
  if ('problem' in account) return account;
  const parameters = readParameters(query);
  if (parameters === null) return { problem: BAD_ESCAPE };
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    return { problem: `has a parameter that is not known; there are ${PARAMETERS.join(', ')}` };
  }
  const parameter = (name: string) => parameters.get(name) ?? null;
  const [ca, cert, key] = [parameter('ca'), parameter('cert'), parameter('key')];
  if (scheme === 'redis' && (ca ?? cert ?? key) !== null) {
    return {
      problem: 'names a certificate, and begins with redis://, which is without TLS: write rediss://',
    };
  }
  if ((cert === null) !== (key === null)) {
    return { problem: 'needs both cert and key, or neither' };
  }
  const sentinelPassword = parameter('sentinel-password');
  if (sentinelPassword !== null && !isSentinel)
    return { problem: `has a sentinel-password, so it ${SENTINEL_FORM}` };
  const known = places.filter((place) => place !== null);
  const at = known.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(', ');
  return {
    hosts: known,
    sentinelName,
    ...account,
    sentinelPassword,
    database: Number(database),
    tls: scheme === 'redis' ? null : { ca, cert, key },
    name: sentinelName === null ? at : `${sentinelName}, asked for at the Sentinels ${at}`,
  };
}

function readParameters(query: string): ReadonlyMap<string, string> | null {
  try {
    return readAddressParameters(query);
  } catch {
    return null;
  }
}

function readHost(text: string, defaultPort: number): { host: string; port: number } | null {
  const { bracketed, plain, port } =
    /^(?:\[(?<bracketed>[\da-fA-F:.]+)\]|(?<plain>[^:[\]]+))(?::(?<port>\d{1,5}))?$/.exec(text)?.groups ?? {};
  const host = bracketed ?? plain;
  return host === undefined || Number(port ?? 0) > 65_535
    ? null
    : { host, port: Number(port ?? defaultPort) };
}

function readLogin(
  login: string,
): { username: string | null; password: string | null } | { problem: string } {
  if (login === '') return { username: null, password: null };
  const colon = login.indexOf(':');
  if (colon === -1 || colon === login.length - 1) {
    return { problem: 'names a user without a password; a password alone is redis://:password@host' };
  }
  try {
    const username = decodeURIComponent(login.slice(0, colon));
    return {
      username: username === '' ? null : username,
      password: decodeURIComponent(login.slice(colon + 1)),
    };
  } catch {
    return { problem: BAD_ESCAPE };
  }
}
