// JSON text that JSON.stringify cannot write: deeper than it goes, or with numbers that JavaScript does not have.

import { randomUUID } from 'node:crypto';

const pieces = new Map<string, string>();

/** Returns a string that `withPieces` replaces by the piece of JSON text. */
export function piece(json: string): string {
  const name = `piece ${randomUUID()}`;
  pieces.set(name, json);
  return name;
}

/** Returns the value as JSON text, every piece in its place. */
export function withPieces(value: unknown): string {
  return JSON.stringify(value).replace(
    /"(piece [\da-f-]{36})"/g,
    (_, name: string) => pieces.get(name) ?? '',
  );
}

/** Returns the text of so many arrays within each other. */
export function deepArrays(levels: number): string {
  return '['.repeat(levels) + ']'.repeat(levels);
}

/** Returns the text of so many objects within each other, under one name. */
export function deepObjects(levels: number, name: string): string {
  const open = `{"${name}":`;
  return `${open.repeat(levels)}null${'}'.repeat(levels)}`;
}
