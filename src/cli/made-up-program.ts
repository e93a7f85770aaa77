// The program that `demo` and `sandbox` make up: the same one, so that a mirror of the demo fits the sandbox too.

/** No secret at all: it opens a made-up program that listens on this machine only. */
export const SANDBOX_SECRET = 'sandbox-secret';

export const SANDBOX_HOST = '127.0.0.1';

export const DEFAULT_SIZE = { seed: 1, affiliates: 400, referrals: 6_000 } as const;
