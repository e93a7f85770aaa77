// What comes in place of the program's own answers while something in front of it has lost it.

/** What it does, and its answer to everything. */
export const FRONT_ANSWERS = [
  ['redirects', { status: 302, body: '' }],
  ['answers with a web page', { status: 403, body: '<!doctype html><title>Back soon</title>' }],
  ['finds no program', { status: 404, body: '{"error":"no Route matched with those values"}' }],
] as const;
