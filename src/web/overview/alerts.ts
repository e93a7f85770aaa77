// The open alerts and the last resolved ones, and who was notified of each.

import { counted } from '../../contract/format.ts';
import type { Figure } from '../../reports/figure.ts';
import type { AlertStatus, NoticeStatus } from '../../reports/read-alerts.ts';
import { momentOf } from '../cells.ts';
import { type Html, html } from '../html.ts';
import { section } from '../section.ts';

export function showAlerts(figure: Figure<AlertStatus>): Html {
  const { rows } = figure;
  return section({
    id: 'alerts',
    title: 'Alerts',
    figure,
    body: rows.length === 0 ? html`<p>None so far.</p>` : html`<ul class="rows">${rows.map(showAlert)}</ul>`,
  });
}

function showAlert(alert: AlertStatus): Html {
  const { code, what, error_code, since, resolved_at, notices } = alert;
  const isOpen = resolved_at === null;
  return html`<li>
<p><strong class="${isOpen ? 'bad' : 'good'}">${isOpen ? 'Open' : 'Resolved'}</strong>: ${what}${
    error_code !== null && html` (<code>${error_code}</code>)`
  }</p>
<p class="split quiet"><span><code>${code}</code> · since ${momentOf(since)}${
    resolved_at !== null && html` · resolved ${momentOf(resolved_at)}`
  }</span>
<span>${describeNotices(notices)}</span></p>
</li>
`;
}

/** Without a full stop. */
function describeNotices(notices: readonly NoticeStatus[]): string {
  if (notices.length === 0) return 'not notified: no channel is set up';
  return notices.map(describeNotice).join(', ');
}

function describeNotice({ kind, channel, state, attempts, last_error_code }: NoticeStatus): string {
  const by = `by ${CHANNELS[channel]}`;
  const subject = kind === 'opened' ? 'notified' : 'notified of the end';
  const why = last_error_code === null ? '' : ` (${last_error_code})`;
  switch (state) {
    case 'sent':
      return `${subject} ${by}`;
    case 'pending':
      return attempts === 0
        ? `to be ${subject} ${by}`
        : `not yet ${subject} ${by} after ${counted(attempts, 'attempt')}${why}`;
    case 'given_up':
      return `not ${subject} ${by}: given up after ${counted(attempts, 'attempt')}${why}`;
    case 'skipped':
      return `not ${subject} ${by}: no longer of use`;
  }
}

const CHANNELS = { webhook: 'webhook', email: 'e-mail' } as const;
