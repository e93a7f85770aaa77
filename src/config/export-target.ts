// The words that say where exports go: a bucket, or a place on this machine.

const ADDRESS = /^\s*([a-z][a-z\d+.-]*:\/\/)/i;
const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;

/** Returns whether the words name a bucket, rightly or wrongly. */
export function namesBucket(words: string): boolean {
  return words.startsWith('s3://');
}

/** Returns the bucket, empty where none is named, and the prefix without slashes at its ends. */
export function splitBucket(words: string): { readonly bucket: string; readonly prefix: string } {
  const [, bucket = '', path = ''] = BUCKET.exec(words) ?? [];
  return { bucket, prefix: path.replace(/^\/+|\/+$/g, '') };
}

/**
 * Returns what is wrong with the words, to be said behind their name; null where nothing is. `kinds` are those that
 * would be right. An address is not quoted whole: of another kind, it may hold a password.
 */
export function findTargetProblem(words: string, kinds: string): string | null {
  if (words.trim() === '') return `is empty: give ${kinds}`;
  if (!namesBucket(words)) {
    const [, kind] = ADDRESS.exec(words) ?? [];
    return kind === undefined ? null : `begins with ${kind}, where exports cannot go: give ${kinds}`;
  }
  const { bucket, prefix } = splitBucket(words);
  if (bucket === '') {
    const quoted = words.includes('@') ? '' : `, not ${words}`;
    return `must be s3://bucket/prefix, with 3 to 63 small letters, digits, dots and hyphens for the bucket${quoted}`;
  }
  // On its way these would be left out, or lead into another bucket.
  if (prefix.split('/').some((part, index) => part === '.' || part === '..' || (part === '' && index > 0))) {
    return `must have no empty part, . or .. in its prefix: ${words}`;
  }
  return null;
}
