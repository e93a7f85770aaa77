// The user and the password in an address: whoever sends them decodes them first.

/** What to do about a user or a password that cannot be decoded; to be read after the variable's name. */
export const UNDECODABLE_USER =
  'holds a % that encodes nothing: write it as %25 in the user and the password';

/** Returns whether they can be decoded, or are not there. */
export function hasDecodableUser({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}
