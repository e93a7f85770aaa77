// Draws lines of plain text as a terminal would show them, as an SVG. Pure.

/** Units: pixels. */
export const CHARACTER_WIDTH = 8;
export const LINE_HEIGHT = 17;
export const FONT_SIZE = 13.3;
export const PADDING = 16;

export const FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";
const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/**
 * Returns the picture: light text on a dark ground, as wide as its longest line. `title` is for who cannot see it.
 *
 * Throws: Error where the text holds a control character (a colour, a moved cursor), which would not be drawn.
 */
export function drawText(title: string, text: string): string {
  const lines = text.split('\n');
  if (lines.some((line) => /\p{Cc}/u.test(line))) {
    throw new Error('the text holds control characters: it needs a terminal to be drawn truly');
  }
  const columns = Math.max(...lines.map((line) => line.length));
  const width = columns * CHARACTER_WIDTH + 2 * PADDING;
  const height = lines.length * LINE_HEIGHT + 2 * PADDING;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"
  font-family="${FONTS}" font-size="${FONT_SIZE}" fill="#e5e5e5">
<title>${escapeXml(title)}</title>
<rect width="100%" height="100%" rx="8" fill="#1e1e1e"/>
${lines.map(drawLine).join('')}</svg>
`;
}

// The length of the text is given, so that columns stay below each other whichever of the fonts there is.
function drawLine(line: string, index: number): string {
  if (line.trim() === '') return '';
  const baseline = PADDING + (index + 1) * LINE_HEIGHT - 4;
  const escaped = escapeXml(line);
  return `<text x="${PADDING}" y="${baseline}" textLength="${line.length * CHARACTER_WIDTH}" xml:space="preserve">${escaped}</text>\n`;
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>]/g, (character) => ESCAPES[character] ?? '');
}
