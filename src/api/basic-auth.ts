// How the secret is sent: HTTP Basic authentication.

/**
 * Returns the `Authorization` header's value: the secret as the user name, an empty password.
 *
 * Source: contract, Authentication, 2.
 */
export function basicAuth(secret: string): string {
  return `Basic ${Buffer.from(`${secret}:`).toString('base64')}`;
}
