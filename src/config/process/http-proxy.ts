// The proxy of HTTP requests, by the variables that other software reads as well.

import { reading, readUrl } from '../reading.ts';

/** A proxy for encrypted requests, and the hosts that are reached without it. */
export interface HttpProxy {
  /** May hold a user and a password. */
  readonly url: string;
  /** Hosts, domains and ports, as in NO_PROXY. */
  readonly exceptions: string;
}

/** As in curl, http:// may be left out. */
export const proxyUrlSchema = reading((text, refuse) => {
  const url = text.includes('://') ? text : `http://${text}`;
  if (/^https?:\/\//i.test(url) && readUrl(url) !== null) return url;
  return refuse('must look like http://proxy.example.com:3128, its user and password percent-encoded');
});
