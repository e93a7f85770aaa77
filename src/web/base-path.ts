// Addresses of the site, which may be served below a path of a reverse proxy: to the browser, and back. Pure.

/** No page has it. */
const NOWHERE = '/-';

/** Returns the address, as the browser has to ask for it, of a path of the site. */
export function addressOf(basePath: string, path: string): string {
  return `${basePath}${path}`;
}

/**
 * Returns the path of the site, with its query, that the address of a request means; one that no page has if it means
 * none.
 */
export function pathOf(basePath: string, url: string): string {
  const [path = '', query] = url.split(/\?(.*)/s);
  if (!isReadable(path)) return NOWHERE;
  if (path !== basePath && !path.startsWith(`${basePath}/`)) return NOWHERE;
  const below = path.slice(basePath.length) || '/';
  return query === undefined ? below : `${below}?${query}`;
}

/** Returns whether the path is this one, below the base path or not: what machines ask for, past the proxy. */
export function isAt(basePath: string, url: string, path: string): boolean {
  const asked = url.split('?')[0];
  return asked === path || asked === addressOf(basePath, path);
}

// The router would answer another kind of path by itself, in words and with headers of its own.
function isReadable(path: string): boolean {
  if (!path.startsWith('/')) return false;
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
