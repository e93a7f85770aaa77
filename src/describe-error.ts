// What is said of an error, ours or anybody's: on one line, without stack traces.

/** Returns the error's message followed by those of its causes, on one line, without stack traces. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  for (let current: unknown = error; current !== undefined && current !== null; ) {
    const text = messageOf(current);
    if (text !== '' && !parts.some((part) => part.includes(text))) parts.push(text);
    current = current instanceof Error ? current.cause : undefined;
  }
  return parts.join(': ');
}

/** What Node says where nobody that it trusts vouches for a certificate. Source: the documentation of node:tls. */
const UNTRUSTED = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/**
 * Returns what to do where the error or a cause of it is that a certificate is not trusted; null where it is something
 * else. Node's own words are left out: they are long, and name one of several ways.
 */
export function describeUntrusted(error: unknown, where: string): string | null {
  for (let current = error; current instanceof Error; current = current.cause) {
    if ('code' in current && UNTRUSTED.has(String(current.code))) {
      return `nobody trusted here vouches for its certificate (${current.code}): name the file of a private authority's in ${where}`;
    }
  }
  return null;
}

// Node's connection errors to a host with several addresses are AggregateErrors with an empty message.
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code of an error of Node or of Postgres, such as ENOENT or 40001; '' where it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
