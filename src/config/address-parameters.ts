// What is behind the question mark of an address of a server. A + is a + there, as in the rest of the address and
// for psql: it is a blank in forms alone, and a password or the name of a file may hold one.

/** Returns the names and values, percent-decoded. Throws: URIError where a % begins no escape. */
export function readAddressParameters(query: string): ReadonlyMap<string, string> {
  const pairs = query.split('&').filter((pair) => pair !== '');
  return new Map(
    pairs.map((pair) => {
      const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
      return [decodeURIComponent(name), decodeURIComponent(value)];
    }),
  );
}
