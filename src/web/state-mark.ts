// How a state looks: its word, with a sign before it that needs no colour.

import { type Html, html } from './html.ts';

/** Of runs and of requests to the payment ledger. */
const LOOKS: Readonly<Record<string, { readonly sign: string; readonly className: string }>> = {
  succeeded: { sign: '✓', className: 'good' },
  applied: { sign: '✓', className: 'good' },
  unchanged: { sign: '✓', className: 'good' },
  partial: { sign: '▲', className: 'warn' },
  conflict: { sign: '▲', className: 'warn' },
  not_found: { sign: '▲', className: 'warn' },
  rejected: { sign: '✕', className: 'bad' },
  failed: { sign: '✕', className: 'bad' },
  interrupted: { sign: '■', className: 'bad' },
  running: { sign: '●', className: 'quiet' },
  pending: { sign: '●', className: 'quiet' },
};

/** Returns the state with its sign. */
export function stateMark(state: string): Html {
  const { sign, className } = LOOKS[state] ?? { sign: '○', className: 'quiet' };
  return html`<span class="state ${className}"><span aria-hidden="true">${sign}</span> ${state.replaceAll('_', ' ')}</span>`;
}
