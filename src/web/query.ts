// What the query of an address says, and addresses with a query. Whatever cannot be what is asked for is left out: an
// address that somebody made up shows the page as it is without.

/** Returns the number of a row; null where the text is none. */
export function readId(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null;
}

/** Returns the one of the choices that the text names; null where it names none. */
export function readChoice<Choice extends string>(
  text: string | undefined,
  choices: readonly Choice[],
): Choice | null {
  return choices.find((choice) => choice === text) ?? null;
}

/** Returns the text without space around it, as Postgres can hold it; null where nothing is left. */
export function readText(text: string | undefined): string | null {
  const clean = (text ?? '').replaceAll('\u0000', '').toWellFormed().trim();
  return clean === '' ? null : clean;
}

/** Returns the path with what is not null as its query. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null>>): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
