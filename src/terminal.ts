// The terminal that a person sits at: how wide it is, which characters it shows, and the one line at its bottom that is
// drawn anew while everything else scrolls past it. Knows no command. Whoever writes for people writes through here.
//
// Rejected: cli-progress. It puts the cursor back to where its bar began, so that a line logged meanwhile is written
// over, and it has had no release since 2023.

type Environment = Readonly<Record<string, string | undefined>>;

/** What is used of a stream of Node's. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** Node's own looks at NO_COLOR, FORCE_COLOR and TERM. */
  hasColors?(): boolean;
  write(text: string): unknown;
}

export interface Outputs {
  readonly stdout: Output;
  readonly stderr: Output;
}

/** Where a terminal does not say how wide it is. */
const USUAL_COLUMNS = 80;
/** A Ctrl-C is shown as ^C behind the line, and must not begin another one. */
const ROOM_FOR_ECHO = 3;

const TO_START_AND_CLEAR = '\r\u001B[K';

/** What this program's own texts hold beyond ASCII, in ASCII. The borders keep their width. */
const IN_ASCII: Readonly<Record<string, string>> = {
  '…': '...',
  '–': '-',
  '—': '-',
  '’': "'",
  '“': '"',
  '”': '"',
  '→': '->',
  '×': 'x',
  '·': '.',
  '✓': 'ok',
  '✗': 'FAILED',
  '█': '#',
  '░': '.',
  '─': '-',
  '│': '|',
};
const CORNERS = /[\u250C-\u254B]/g;
const BEYOND_ASCII = /\P{ASCII}/gu;

let outputs: Outputs = process;
let isAscii = false;
let isDumb = false;
let shownLine: string | null = null;

/** Sets what the environment says of the terminal; until then it can do everything. */
export function useTerminal(environment: Environment, streams: Outputs = process): void {
  outputs = streams;
  isDumb = environment['TERM'] === 'dumb';
  isAscii = isDumb || !isLocaleUtf8(environment);
}

// POSIX: the first of them that is set and not empty. Windows has none of them, and shows everything.
function isLocaleUtf8({ LC_ALL, LC_CTYPE, LANG }: Environment): boolean {
  return process.platform === 'win32' || /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}

/** Returns how many characters fit beside each other on stdout; without bound where that is no terminal. */
export function columnsOfStdout(): number {
  return columnsOf(outputs.stdout);
}

/** Returns the same of stderr. */
export function columnsOfStderr(): number {
  return columnsOf(outputs.stderr);
}

function columnsOf({ isTTY, columns }: Output): number {
  return isTTY === true ? columns || USUAL_COLUMNS : Number.POSITIVE_INFINITY;
}

/** Returns how many characters a status line may have. */
export function columnsOfStatusLine(): number {
  return (outputs.stderr.columns || USUAL_COLUMNS) - ROOM_FOR_ECHO;
}

/** Returns whether a person watches stderr. */
export function isStderrTerminal(): boolean {
  return outputs.stderr.isTTY === true;
}

/** Returns whether colours are shown there, and wanted. */
export function hasStderrColors(): boolean {
  return outputs.stderr.hasColors?.() === true;
}

/** Returns whether a person watches stderr on a terminal on which a line can be drawn anew. */
export function canDrawStatusLine(): boolean {
  return isStderrTerminal() && !isDumb;
}

/** Writes a text for people to stdout, in characters that a terminal there shows. */
export function writeText(text: string): void {
  writeTo(outputs.stdout, spellForStdout(text));
}

/** Writes data for other programs to stdout, as they are. */
export function writeData(text: string): void {
  writeTo(outputs.stdout, text);
}

/** Writes a text for people to stderr, in characters that a terminal there shows. */
export function writeErrorText(text: string): void {
  writeTo(outputs.stderr, isStderrTerminal() ? spellForTerminal(text) : text);
}

/** Draws the line at the bottom of the terminal in place of the one before, cut to one line. */
export function drawStatusLine(text: string): void {
  shownLine = spellForTerminal(text).slice(0, columnsOfStatusLine());
  outputs.stderr.write(`${TO_START_AND_CLEAR}${shownLine}`);
}

/** Takes the line away. Idempotent: yes. */
export function clearStatusLine(): void {
  if (shownLine === null) return;
  shownLine = null;
  outputs.stderr.write(TO_START_AND_CLEAR);
}

/** Returns the text as stdout shows it: in ASCII on a terminal that cannot do more. Idempotent: yes. */
export function spellForStdout(text: string): string {
  return outputs.stdout.isTTY === true ? spellForTerminal(text) : text;
}

function spellForTerminal(text: string): string {
  if (!isAscii) return text;
  return text
    .replace(CORNERS, '+')
    .replace(BEYOND_ASCII, (character) => IN_ASCII[character] ?? character)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(BEYOND_ASCII, '?');
}

// What scrolls past begins where the status line is, which moves below it.
function writeTo(output: Output, text: string): void {
  if (shownLine === null) {
    output.write(text);
    return;
  }
  outputs.stderr.write(TO_START_AND_CLEAR);
  output.write(text);
  outputs.stderr.write(shownLine);
}
