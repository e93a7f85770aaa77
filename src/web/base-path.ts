// Addresses of the site, which may be served below a path of a reverse proxy. Pure.

/** No view has this path. */
const NOWHERE = '/-';

/** Returns the path below which the views of a program are; empty for the one that the environment describes. */
export function rootOf(program: string | null): string {
  return program === null ? '' : `/p/${program}`;
}

/** Returns the address that the browser asks for, of a path of the site. */
export function addressOf(basePath: string, path: string): string {
  return `${basePath}${path}`;
}

/** Returns the path of the site, with its query, for the address of a request; NOWHERE if it is not below the base. */
export function pathOf(basePath: string, url: string): string {
  const [path = '', query] = url.split(/\?(.*)/s);
  if (!isReadable(path)) return NOWHERE;
  if (path !== basePath && !path.startsWith(`${basePath}/`)) return NOWHERE;
  const below = path.slice(basePath.length) || '/';
  return query === undefined ? below : `${below}?${query}`;
}

/** Returns whether the path is this one, below the base path or not: machines ask past the proxy. */
export function isAt(basePath: string, url: string, path: string): boolean {
  const asked = url.split('?')[0];
  return asked === path || asked === addressOf(basePath, path);
}

// The router would answer an unreadable path itself, with its own words and headers.
function isReadable(path: string): boolean {
  if (!path.startsWith('/')) return false;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
