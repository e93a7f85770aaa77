// A state in a view: its word, after a sign that needs no colour.

import { type Html, html } from './html.ts';

/** Of runs, of payment requests, of payouts with their commissions, and of programs. */
const MARKS: Readonly<Record<string, { readonly sign: string; readonly className: string }>> = {
  succeeded: { sign: '✓', className: 'good' },
  applied: { sign: '✓', className: 'good' },
  paid: { sign: '✓', className: 'good' },
  unchanged: { sign: '✓', className: 'good' },
  partial: { sign: '▲', className: 'warn' },
  conflict: { sign: '▲', className: 'warn' },
  not_found: { sign: '▲', className: 'warn' },
  rejected: { sign: '✕', className: 'bad' },
  failed: { sign: '✕', className: 'bad' },
  interrupted: { sign: '■', className: 'bad' },
  running: { sign: '●', className: 'quiet' },
  pending: { sign: '●', className: 'quiet' },
  ok: { sign: '✓', className: 'good' },
  warning: { sign: '▲', className: 'warn' },
  failing: { sign: '✕', className: 'bad' },
  unread: { sign: '✕', className: 'bad' },
  paused: { sign: '■', className: 'bad' },
  starting: { sign: '●', className: 'quiet' },
};

/** One that needs no attention looks like any other. */
export function stateMark(state: string, needsAttention = true): Html {
  const { sign, className } = markOf(state, needsAttention);
  return html`<span class="state ${className}"><span aria-hidden="true">${sign}</span> ${state.replaceAll('_', ' ')}</span>`;
}

/** Returns the class of its colour: `good`, `warn`, `bad` or `quiet`. */
export function toneOf(state: string, needsAttention: boolean): string {
  return markOf(state, needsAttention).className;
}

function markOf(state: string, needsAttention: boolean) {
  const mark = MARKS[state] ?? OTHER;
  return !needsAttention && ['warn', 'bad'].includes(mark.className) ? OTHER : mark;
}

const OTHER = { sign: '○', className: 'quiet' };
