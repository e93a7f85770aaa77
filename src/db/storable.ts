// Makes text storable: Postgres refuses NUL and lone surrogates in text and jsonb, and an answer of the API may contain
// them. A job with such an error could not even be marked as failed.

/** Returns the text without NUL, with lone surrogates replaced. */
export function storableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

export function storableJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'string' ? storableText(inner) : inner,
  );
}
