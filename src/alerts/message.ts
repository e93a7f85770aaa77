// What a message says: what is wrong, since when, in which mirror, and what to run. All of it is affiliate-mirror's own
// words, names of resources, numbers and times: no text of an error, no row, no host, no user. Pure.

import { randomUUID } from 'node:crypto';
import type { Timestamp } from '../contract/timestamp.ts';
import type { ClaimedNotice } from './outbox.ts';

export interface Message {
  /** The same for every attempt at it, so that a receiver knows one that came twice. */
  readonly key: string;
  /** The key of the message that this one follows; null for the first. */
  readonly follows: string | null;
  /** One line. */
  readonly title: string;
  /** Label and value. */
  readonly facts: readonly (readonly [string, string])[];
}

/** Which mirror: its schema, and the database that it is in where that is known. */
export interface MirrorName {
  readonly schema: string;
  readonly database: string | null;
}

/** Returns the message of a notice. */
export function describeNotice(notice: ClaimedNotice): Message {
  const { uid, kind, alert_id, code, what, since, resolved_at } = notice;
  const mirror = ['Mirror', nameMirror(notice)] as const;
  const cause = ['Alert', `${alert_id} (${code})`] as const;
  if (kind === 'opened' || resolved_at === null) {
    const error = notice.error_code === null ? [] : [['Error', notice.error_code] as const];
    const facts = [['Since', inWords(since)] as const, ...error, ['Run', notice.fix] as const, mirror, cause];
    return { key: `${uid}.opened`, follows: null, title: what, facts };
  }
  return {
    key: `${uid}.resolved`,
    follows: `${uid}.opened`,
    title: `well again: ${what}`,
    facts: [['From', inWords(since)], ['Until', inWords(resolved_at)], mirror, cause],
  };
}

/** Returns a message that says that messages arrive. */
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

function inWords(at: Timestamp): string {
  return `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
}
