// The query of a server's address. A + stays a +, as for psql: only in forms it is a blank, and a password or the name
// of a file may hold one.

/** Returns the names and values, percent-decoded. Throws: URIError if a % begins no escape. */
export function readAddressParameters(query: string): ReadonlyMap<string, string> {
  const pairs = query.split('&').filter((pair) => pair !== '');
  return new Map(
    pairs.map((pair) => {
      const [, name = '', value = ''] = /^([^=]*)=?(.*)$/s.exec(pair) ?? [];
      return [decodeURIComponent(name), decodeURIComponent(value)];
    }),
  );
}
