// The target of an export in words: a bucket, or a path on this machine.

const ADDRESS = /^\s*([a-z][a-z\d+.-]*:\/\/)/i;
const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/;

/** Also true for a malformed bucket. */
export function namesBucket(words: string): boolean {
  return words.startsWith('s3://');
}

/** Returns the bucket, empty if it is malformed, and the prefix without slashes at its ends. */
export function splitBucket(words: string): { readonly bucket: string; readonly prefix: string } {
  const [, bucket = '', path = ''] = BUCKET.exec(words) ?? [];
  return { bucket, prefix: path.replace(/^\/+|\/+$/g, '') };
}

/** The place of a listed program's name in a target. */
export const PROGRAM_PLACE = '{program}';

/** Returns the target of the listed program; null if it would be that of others too. */
export function targetOf(words: string, program: string): string | null {
  return words.includes(PROGRAM_PLACE) ? words.replaceAll(PROGRAM_PLACE, program) : null;
}

/**
 * Returns the problem, to follow the name of the variable or option; null without one. `kinds` names the right ones. An
 * address of another kind is not quoted whole: it may hold a password.
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
  // HTTP clients drop such parts, which could lead into another bucket.
  if (prefix.split('/').some((part, index) => part === '.' || part === '..' || (part === '' && index > 0))) {
    return `must have no empty part, . or .. in its prefix: ${words}`;
  }
  return null;
}
