// Which base addresses of the program are accepted.

import { z } from 'zod';

/** Accepts an `https` address, or one of this machine, without credentials, query and version; strips final slashes. */
export const apiUrlSchema = z.string().transform((text, context) => {
  const fail = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  if (!URL.canParse(text)) return fail('must be an address such as https://api.example.com');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return fail('must start with https://');
  if (url.username !== '' || url.password !== '') {
    return fail('must not hold credentials: put the secret into AFFILIATE_API_SECRET');
  }
  if (url.search !== '' || url.hash !== '') return fail('must not hold a query or a fragment');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    return fail('must start with https://: over http:// the secret would travel in the clear');
  }
  const base = url.href.replace(/\/+$/, '');
  return base.endsWith('/v1') ? fail('must not end in /v1: give the address before it') : base;
});

/** Returns whether the host is this machine itself. */
export function isLoopback(hostname: string): boolean {
  return ['localhost', '[::1]', '::1'].includes(hostname) || /^127(\.\d{1,3}){3}$/.test(hostname);
}
