// Texts no wider than the terminal, broken between words. Pure.

/** Fewer characters than this hold no sentence. */
const LEAST_ROOM = 20;

/** The beginning of a line of a list: its indent, then either a dash or a term and the blanks behind it. */
const LIST_ITEM = /^ *(?:- |\S.*? {2,}(?=\S))/;

/**
 * Returns the text with no line longer than that, as far as its words allow. Lines without an indent that follow each
 * other are one paragraph and flow into each other; indented ones stay lines, and go on below their own text; a shell's
 * command goes on behind a backslash.
 */
export function wrapHelp(text: string, width: number): string {
  return joinParagraphs(text.split('\n'))
    .map((line) => wrapLine(line, width))
    .join('\n');
}

/**
 * Returns the text with its sentences broken between words, also those of a list with dashes. Other lines with an
 * indent stay as they are: they are often commands, and a command that is copied must be one line.
 */
export function wrapProse(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => {
      if (line.length <= width) return line;
      if (isFlowing(line)) return wrapWords(line, width, '');
      return /^ *- /.test(line) ? wrapLine(line, width) : line;
    })
    .join('\n');
}

function joinParagraphs(lines: readonly string[]): string[] {
  const joined: string[] = [];
  for (const line of lines) {
    const before = joined.at(-1);
    if (isFlowing(line) && before !== undefined && isFlowing(before)) joined.push(`${joined.pop()} ${line}`);
    else joined.push(line);
  }
  return joined;
}

function isFlowing(line: string): boolean {
  return /^\S/.test(line);
}

function wrapLine(line: string, width: number): string {
  if (line.length <= width) return line;
  const item = LIST_ITEM.exec(line)?.[0] ?? '';
  const text = line.slice(item.length);
  if (/^ *\$ /.test(line) && item.length < 3) return wrapWords(line, width, '      ', ' \\');
  // A term that leaves no room for what it means has that below it.
  if (item.length > width - LEAST_ROOM)
    return `${item.trimEnd()}\n${wrapWords(`      ${text}`, width, '      ')}`;
  const head = item === '' ? (/^ */.exec(line)?.[0] ?? '') : item;
  return wrapWords(line, width, ' '.repeat(head.length), '', head.length);
}

/** Returns the line broken between words; its first `kept` characters stay as they are. */
function wrapWords(line: string, width: number, indent: string, end = '', kept = indent.length): string {
  const lines: string[] = [];
  let current = line.slice(0, kept);
  let isEmpty = true;
  for (const word of line.slice(kept).split(' ')) {
    if (isEmpty || current.length + 1 + word.length + end.length <= width) {
      current += isEmpty ? word : ` ${word}`;
    } else {
      lines.push(`${current}${end}`);
      current = `${indent}${word}`;
    }
    isEmpty = false;
  }
  return [...lines, current].join('\n');
}
