// Describes errors on one line, without stack traces. The sentences for codes of the network and of TLS are here, those
// for Postgres in db/.

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

// Node's connection errors to a host with several addresses are AggregateErrors with an empty message.
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** Returns the code of an error of Node or of Postgres, such as ENOENT or 40001; '' if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/**
 * Returns the code of a connection that failed, such as ECONNREFUSED: that of the innermost cause that has one.
 * ETIMEDOUT if a time limit of ours ended it; '' if nothing has a code.
 */
export function networkCode(error: unknown): string {
  let code = '';
  for (let current = error; current instanceof Error; current = current.cause) {
    if (TIME_LIMITS.has(current.name)) return 'ETIMEDOUT';
    code = errorCode(current) || code;
  }
  return code;
}

/** Names of the errors of AbortSignal.timeout and of an aborted controller. */
const TIME_LIMITS = new Set(['TimeoutError', 'AbortError']);

/** Codes for a certificate without a trusted authority. Source: the documentation of node:tls. */
const UNTRUSTED = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

export const NO_TLS = 'ERR_SSL_WRONG_VERSION_NUMBER';

/** Codes of Node, undici and nodemailer for failures before anything is sent. */
const NOTHING_SENT = new Set([
  ...UNTRUSTED,
  NO_TLS,
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETLS',
  'EAUTH',
]);

/** Returns whether data may have arrived over a connection that failed with this code. */
export function mayHaveArrived(code: string): boolean {
  return !NOTHING_SENT.has(code);
}

/**
 * Returns the TLS problem of a connection that failed with this code, and the remedy; null if TLS is not the problem.
 * `authorities` is the variable that names a private authority. Node's own words are long, and name one of several
 * ways.
 */
export function describeTls(code: string, authorities = 'NODE_EXTRA_CA_CERTS'): string | null {
  if (code === NO_TLS) return 'the server does not speak TLS, but the address asks for it';
  if (!UNTRUSTED.has(code)) return null;
  return `its certificate is from no trusted authority (${code}): name the certificate file of a private authority in ${authorities}`;
}

/** Uses only the code: an error's own words may quote addresses and answers. */
export function describeUnreachable(code: string): string {
  if (code === 'ETIMEDOUT') return 'does not answer in time (ETIMEDOUT)';
  return describeTls(code) ?? `cannot be reached${code === '' ? '' : ` (${code})`}`;
}
