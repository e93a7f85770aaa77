// Messages and channels. A message has the cause, since when it lasts, the mirror, and the command to run. It consists
// of affiliate-mirror's own words, names of resources, numbers and times: no text of an error, no row, no host, no
// user. Pure.

import { randomUUID } from 'node:crypto';
import { ERROR_WORDS } from '../../base/error-words.ts';
import { formatTimestamp } from '../../contract/format.ts';
import type { ChannelKind, ClaimedNotice } from './outbox.ts';
import { ifCauseStays, isAlertCode } from './rules.ts';

export interface Message {
  /** The same for every attempt, so that a receiver recognises duplicates. */
  readonly key: string;
  /** The key of the message that this one follows; null for the first. */
  readonly follows: string | null;
  /** One line. */
  readonly title: string;
  /** Label and value. */
  readonly facts: readonly (readonly [string, string])[];
}

export interface Channel {
  readonly kind: ChannelKind;
  /** For printing: the receiver's host and the number of addresses. */
  readonly name: string;
  /**
   * Resolves when the receiver has accepted the message: to null, or to a partial problem. The signal aborts if the
   * receiver does not answer in time.
   *
   * Throws: AlertNotSent.
   */
  send(message: Message, signal: AbortSignal): Promise<string | null>;
}

export interface MirrorName {
  readonly schema: string;
  readonly database: string | null;
}

export function describeNotice(notice: ClaimedNotice): Message {
  const { uid, kind, alert_id, code, what, since, resolved_at } = notice;
  const mirror = ['Mirror', nameMirror(notice)] as const;
  const cause = ['Alert', `${alert_id} (${code})`] as const;
  if (kind === 'opened' || resolved_at === null) {
    const facts = [
      ['Since', formatTimestamp(since, ' UTC')] as const,
      ...describeError(notice),
      ...adviseOn(notice),
      mirror,
      cause,
    ];
    return { key: `${uid}.opened`, follows: null, title: what, facts };
  }
  return {
    key: `${uid}.resolved`,
    follows: `${uid}.opened`,
    title: `Resolved: ${what}`,
    facts: [
      ['From', formatTimestamp(since, ' UTC')],
      ['Until', formatTimestamp(resolved_at, ' UTC')],
      mirror,
      cause,
    ],
  };
}

type Facts = readonly (readonly [string, string])[];

function describeError({ error_code: code }: ClaimedNotice): Facts {
  if (code === null) return [];
  const words = ERROR_WORDS[code];
  return [['Error', words === undefined ? code : `${code}: ${words}`]];
}

function adviseOn({ code, error_code, fix }: ClaimedNotice): Facts {
  // A newer version may have noticed it.
  const stays: Facts = isAlertCode(code) ? [['If it stays', ifCauseStays(code, error_code)]] : [];
  return [['Run', fix], ...stays];
}

export function describeTest(mirror: MirrorName): Message {
  return {
    key: `${randomUUID()}.test`,
    follows: null,
    title: 'this is a test: alerts arrive here',
    facts: [['Mirror', nameMirror(mirror)]],
  };
}

function nameMirror({ schema, database }: MirrorName): string {
  return database === null ? `schema ${schema}` : `schema ${schema} of the database ${database}`;
}
