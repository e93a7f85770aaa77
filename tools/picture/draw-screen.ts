// Draws the screen of a terminal as an SVG: its characters in their colours, at their places. Pure.

import type { IBufferCell } from '@xterm/headless';
import type { Emulator } from '../../test/support/terminal.ts';
import { CHARACTER_WIDTH, escapeXml, FONT_SIZE, FONTS, LINE_HEIGHT, PADDING } from './draw-text.ts';

const GROUND = '#1e1e1e';
const TEXT = '#e5e5e5';
/** The sixteen colours of a terminal, by number. */
const PALETTE = [
  ...['#1e1e1e', '#cd3131', '#0dbc79', '#e5e510', '#2472c8', '#bc3fbc', '#11a8cd', '#e5e5e5'],
  ...['#666666', '#f14c4c', '#23d18b', '#f5f543', '#3b8eea', '#d670d6', '#29b8db', '#ffffff'],
];

interface Run {
  readonly column: number;
  readonly style: string;
  readonly text: string;
}

/** Returns the picture of what the emulator shows now. `title` is for who cannot see it. */
export function drawScreen(title: string, emulator: Emulator): string {
  const { cols, rows } = emulator;
  const width = cols * CHARACTER_WIDTH + 2 * PADDING;
  const height = rows * LINE_HEIGHT + 2 * PADDING;
  const lines = Array.from({ length: rows }, (_, row) => drawRow(emulator, row)).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"
  font-family="${FONTS}" font-size="${FONT_SIZE}" fill="${TEXT}">
<title>${escapeXml(title)}</title>
<rect width="100%" height="100%" rx="8" fill="${GROUND}"/>
${lines}</svg>
`;
}

function drawRow(emulator: Emulator, row: number): string {
  const baseline = PADDING + (row + 1) * LINE_HEIGHT - 4;
  return readRuns(emulator, row)
    .filter(({ text }) => text.trim() !== '')
    .map(({ column, style, text }) => {
      const x = PADDING + column * CHARACTER_WIDTH;
      const length = [...text].length * CHARACTER_WIDTH;
      return `<text x="${x}" y="${baseline}" textLength="${length}" xml:space="preserve"${style}>${escapeXml(text)}</text>\n`;
    })
    .join('');
}

/** Returns the characters of a line that look alike and follow each other, together. */
function readRuns(emulator: Emulator, row: number): Run[] {
  const { active } = emulator.buffer;
  const line = active.getLine(active.baseY + row);
  const runs: Run[] = [];
  for (let column = 0; column < emulator.cols; column += 1) {
    const cell = line?.getCell(column);
    if (cell === undefined || cell.getWidth() === 0) continue;
    const style = styleOf(cell);
    const text = cell.getChars() || ' ';
    const last = runs.at(-1);
    if (last?.style === style) runs.splice(-1, 1, { ...last, text: last.text + text });
    else runs.push({ column, style, text });
  }
  // Blanks at the end show nothing, and would be different bytes.
  return runs.map((run) => ({ ...run, text: run.text.trimEnd() }));
}

function styleOf(cell: IBufferCell): string {
  const colour = cell.isFgPalette() ? PALETTE[cell.getFgColor()] : undefined;
  return [
    colour === undefined ? '' : ` fill="${colour}"`,
    cell.isBold() ? ' font-weight="bold"' : '',
    cell.isDim() ? ' opacity=".6"' : '',
  ].join('');
}
