// What Postgres cannot hold in text or jsonb: the NUL character and half of a surrogate pair. Knows no record.

/**
 * Gives back where in a JSON value such text stands (field names included), as a dotted path; null where nowhere.
 * `except` names fields of the outermost object that are not looked at.
 */
export function findUnstorableText(value: unknown, except: readonly string[] = []): string | null {
  if (typeof value === 'string') return isStorable(value) ? null : '';
  if (value === null || typeof value !== 'object') return null;
  // No Object.entries: its pairs cost more than the search.
  for (const key in value) {
    if (!isStorable(key)) return JSON.stringify(key).slice(1, -1);
    const inner: unknown = value[key as keyof typeof value];
    if (typeof inner === 'string') {
      if (!isStorable(inner) && !except.includes(key)) return key;
    } else if (inner !== null && typeof inner === 'object' && !except.includes(key)) {
      const found = findUnstorableText(inner);
      if (found !== null) return found === '' ? key : `${key}.${found}`;
    }
  }
  return null;
}

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
