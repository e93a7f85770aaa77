// Makes text storable: Postgres refuses NUL and half characters (lone surrogates) in text and in jsonb alike, and an
// answer of the program may contain either. A job whose error holds one could not even be marked as failed.

/** Returns the value with every text in it storable; what JSON cannot carry is left out, as it would be anyway. */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return storableText(value);
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [storableText(name), storable(part)]),
    );
  }
  return value;
}

/** Returns the text without NUL, its half characters replaced. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

/** Returns the value as JSON that Postgres takes as jsonb. */
export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'string' ? storableText(inner) : inner,
  );
}
