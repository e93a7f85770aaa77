// What Postgres cannot hold in text or jsonb: the NUL character and half of a surrogate pair. Knows no record.

/**
 * Gives back where in the value such text stands (field names included), as a dotted path; null where nowhere.
 * `except` names fields of the outermost object that are not looked at.
 */
export function findUnstorableText(value: unknown, except: readonly string[] = []): string | null {
  if (typeof value === 'string') return isStorable(value) ? null : '';
  if (value === null || typeof value !== 'object') return null;
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return JSON.stringify(key).slice(1, -1);
    if (inner === null || typeof inner === 'number' || except.includes(key)) continue;
    const found = findUnstorableText(inner);
    if (found !== null) return found === '' ? key : `${key}.${found}`;
  }
  return null;
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
