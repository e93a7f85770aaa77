// The secret of every local sandbox. No secret at all: the program behind it is made up, and listens on loopback.

export const SANDBOX_SECRET = 'sandbox-secret';

/** The sandbox answers on this machine only. */
export const SANDBOX_HOST = '127.0.0.1';
