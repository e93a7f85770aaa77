// What the environment says of the way to the program, and a request cannot show: entries of NO_PROXY that have no
// effect, and certificates that are not checked.

import type { HttpProxy } from '../../config/http-proxy.ts';
import { ConfigError } from '../../errors.ts';

/** Hosts, domains and addresses, each with a port or not. Source: undici's EnvHttpProxyAgent. */
const UNDERSTOOD = /^(?:\*|(?:\*?\.)?[\w-]+(?:\.[\w-]+)*\.?|\[[\da-f:.]+\])(?::\d+)?$|^[\da-f:.]+$/i;

/**
 * Returns what is said of the proxy. What NO_PROXY has in vain is named and no failure: other programs on the machine
 * read the same variable, and some of them understand more.
 */
export function describeProxy({ url, exceptions }: HttpProxy): string {
  const { protocol, host } = new URL(url);
  const inVain = exceptions.split(/[,\s]+/).filter((entry) => entry !== '' && !UNDERSTOOD.test(entry));
  const says = `requests to https:// addresses go through ${protocol}//${host}`;
  if (inVain.length === 0) return says;
  return `${says}; NO_PROXY names ${inVain.join(', ')} without effect: it takes hosts, domains and single addresses`;
}

/** Returns what is wrong with NODE_TLS_REJECT_UNAUTHORIZED=0. */
export function uncheckedCertificates(): ConfigError {
  return new ConfigError([
    'NODE_TLS_REJECT_UNAUTHORIZED is 0: no certificate is checked, and the API secret goes to any machine that answers in the place of the API. Unset it; name the file of a private authority in NODE_EXTRA_CA_CERTS',
  ]);
}
