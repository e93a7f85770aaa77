// Which addresses of a proxy are accepted. Every other program on the machine reads the same variables.

import { z } from 'zod';
import { hasDecodableUser, UNDECODABLE_USER } from './user-in-address.ts';

/** A proxy for what is encrypted, and the hosts that are reached without it. */
export interface HttpProxy {
  /** May hold a user and a password. */
  readonly url: string;
  /** Hosts, domains and ports, as in NO_PROXY. */
  readonly exceptions: string;
}

/** Accepts the address of a proxy, also without http:// before it, as curl does. */
export const proxyUrlSchema = z.string().transform((text, context) => {
  const url = text.includes('://') ? text : `http://${text}`;
  const isAddress = /^https?:\/\//i.test(url) && URL.canParse(url);
  if (isAddress && hasDecodableUser(new URL(url))) return url;
  const message = isAddress ? UNDECODABLE_USER : 'must look like http://proxy.example.com:3128';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});
