// Which addresses of a proxy are accepted. Every other program on the machine reads the same variables.

import { reading, readUrl } from './reading.ts';

/** A proxy for what is encrypted, and the hosts that are reached without it. */
export interface HttpProxy {
  /** May hold a user and a password. */
  readonly url: string;
  /** Hosts, domains and ports, as in NO_PROXY. */
  readonly exceptions: string;
}

/** Accepts the address of a proxy, also without http:// before it, as curl does. */
export const proxyUrlSchema = reading((text, refuse) => {
  const url = text.includes('://') ? text : `http://${text}`;
  if (/^https?:\/\//i.test(url) && readUrl(url) !== null) return url;
  return refuse('must look like http://proxy.example.com:3128, its user and password percent-encoded');
});
