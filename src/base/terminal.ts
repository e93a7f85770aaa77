// The terminal: its width, and the status line at its bottom, which is redrawn while all other output
// scrolls past it. All output for people goes through this file.
//
// Rejected: cli-progress. It moves the cursor back to the start of its bar, so that a line logged meanwhile is
// overwritten, and it has had no release since 2023.

type Environment = Readonly<Record<string, string | undefined>>;

/** The used part of a stream of Node. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** Node's own heeds NO_COLOR, FORCE_COLOR and TERM. */
  hasColors?(): boolean;
  write(text: string): unknown;
}

export interface Outputs {
  readonly stdout: Output;
  readonly stderr: Output;
}

/** If a terminal does not tell its width. */
const USUAL_COLUMNS = 80;
/** A Ctrl-C is shown as ^C after the line, and must not wrap. */
const ROOM_FOR_ECHO = 3;

const TO_START_AND_CLEAR = '\r\u001B[K';

let outputs: Outputs = process;
let isDumb = false;
let shownLine: string | null = null;

/** Until it is called, the terminal is assumed to be capable of everything. */
export function useTerminal({ TERM }: Environment, streams: Outputs = process): void {
  outputs = streams;
  isDumb = TERM === 'dumb';
}

/** Returns the width of stdout; infinite if that is no terminal. */
export function columnsOfStdout(): number {
  return columnsOf(outputs.stdout);
}

export function columnsOfStderr(): number {
  return columnsOf(outputs.stderr);
}

function columnsOf({ isTTY, columns }: Output): number {
  return isTTY === true ? columns || USUAL_COLUMNS : Number.POSITIVE_INFINITY;
}

function columnsOfStatusLine(): number {
  return (outputs.stderr.columns || USUAL_COLUMNS) - ROOM_FOR_ECHO;
}

export function isStderrTerminal(): boolean {
  return outputs.stderr.isTTY === true;
}

export function hasStderrColors(): boolean {
  return outputs.stderr.hasColors?.() === true;
}

export function canDrawStatusLine(): boolean {
  return isStderrTerminal() && !isDumb;
}

/** For people. */
export function writeText(text: string): void {
  writeTo(outputs.stdout, text);
}

/** For other programs: unchanged. */
export function writeData(text: string): void {
  writeTo(outputs.stdout, text);
}

export function writeErrorText(text: string): void {
  writeTo(outputs.stderr, text);
}

/** Replaces the status line; the text is cut to one line. */
export function drawStatusLine(text: string): void {
  shownLine = text.slice(0, columnsOfStatusLine());
  outputs.stderr.write(`${TO_START_AND_CLEAR}${shownLine}`);
}

/** Idempotent: yes. */
export function clearStatusLine(): void {
  if (shownLine === null) return;
  shownLine = null;
  outputs.stderr.write(TO_START_AND_CLEAR);
}

// The output begins at the place of the status line, which moves below it.
function writeTo(output: Output, text: string): void {
  if (shownLine === null) {
    output.write(text);
    return;
  }
  outputs.stderr.write(TO_START_AND_CLEAR);
  output.write(text);
  outputs.stderr.write(shownLine);
}
