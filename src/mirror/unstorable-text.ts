// What Postgres cannot hold in text or jsonb: the NUL character and half of a surrogate pair. Knows no record.

/**
 * Gives back where in a JSON value such text stands (field names included), as a dotted path; null where nowhere.
 * Of the outermost object, `except` names fields that are not looked at, and `known` names that need no look.
 */
export function findUnstorableText(
  value: unknown,
  { except, known }: { except: readonly string[]; known: ReadonlySet<string> } = NOTHING,
): string | null {
  if (typeof value === 'string') return isStorable(value) ? null : '';
  if (value === null || typeof value !== 'object') return null;
  // No Object.entries: it would make a pair of every field of every record.
  for (const key in value) {
    if (!known.has(key) && !isStorable(key)) return JSON.stringify(key).slice(1, -1);
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

const NOTHING = { except: [], known: new Set<string>() };

function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}
