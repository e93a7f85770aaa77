// Keeps the secret out of every text that came back from the network: servers and proxies echo what they were sent.

const REPLACEMENT = '[secret]';

/** Takes the secret out of a text, in every spelling in which a server may echo it. */
export type Scrub = (text: string) => string;

/**
 * Gives back the scrubber for one secret: plain, URL-encoded, JSON- or HTML-escaped, and as base64 (the header's
 * own spelling, with whatever follows it).
 */
export function makeScrub(secret: string): Scrub {
  const spellings = new Set([
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    escapeHtml(secret),
  ]);
  const encoded = Array.from(
    base64Stems(secret),
    (stem) => new RegExp(`${escapeRegExp(stem)}[\\w+/=-]*`, 'g'),
  );
  // The longest first: a shorter spelling inside it would leave its ends standing.
  const plain = [...spellings].sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const pattern of encoded) clean = clean.replace(pattern, REPLACEMENT);
    for (const spelling of plain) clean = clean.replaceAll(spelling, REPLACEMENT);
    return clean;
  };
}

// The base64 digits that depend on the secret alone, whatever stands behind it, in both alphabets.
function base64Stems(secret: string): Set<string> {
  const bytes = Buffer.from(secret);
  const stable = Math.floor((bytes.length * 8) / 6);
  return new Set([bytes.toString('base64').slice(0, stable), bytes.toString('base64url').slice(0, stable)]);
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
