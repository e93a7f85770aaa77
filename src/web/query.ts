// Reads and writes queries of addresses. An unreadable parameter counts as absent.

/** Returns the parameters of an address; of one that is given twice, the last. */
export function readQuery(url: string): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(url.split(/\?(.*)/s)[1]));
}

/** Returns the number of a row; null if the text is none. */
export function readId(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}

/** Returns the choice that the text names; null if it names none. */
export function readChoice<Choice extends string>(
  text: string | undefined,
  choices: readonly Choice[],
): Choice | null {
  return choices.find((choice) => choice === text) ?? null;
}

/** Returns the text trimmed, without characters that Postgres cannot hold; null if nothing is left. */
export function readText(text: string | undefined): string | null {
  const clean = (text ?? '').replaceAll('\u0000', '').toWellFormed().trim();
  return clean === '' ? null : clean;
}

/** Parameters that are null are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
