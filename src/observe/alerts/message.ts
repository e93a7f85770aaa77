// Messages and channels. A message has the cause, since when it lasts, the mirror or the listed programs, and the
// command to run. It consists of affiliate-mirror's own words, names of programs and resources, numbers and times: no
// text of an error, no row, no host, no user. Pure.

import { randomUUID } from 'node:crypto';
import { ERROR_WORDS } from '../../base/error-words.ts';
import { formatTimestamp } from '../../contract/format.ts';
import { keyOf } from './bundle.ts';
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

type Facts = readonly (readonly [string, string])[];
type Notices = readonly [ClaimedNotice, ...ClaimedNotice[]];

/** Returns the message about alerts of one cause: one of each program. */
export function describeNotices(notices: Notices): Message {
  const [{ kind, resolved_at }] = notices;
  const title = `${nameTitle(notices)}${describeCause(notices)}`;
  const since = notices.map((notice) => notice.since).toSorted()[0] ?? notices[0].since;
  if (kind === 'opened' || resolved_at === null) {
    const facts = [
      ['Since', formatTimestamp(since, ' UTC')] as const,
      ...describeError(notices[0]),
      ...adviseOn(notices),
      ...nameAlerts(notices),
    ];
    return { key: keyOf(notices, 'opened'), follows: null, title, facts };
  }
  const until =
    notices
      .flatMap((notice) => notice.resolved_at ?? [])
      .toSorted()
      .at(-1) ?? resolved_at;
  return {
    key: keyOf(notices, 'resolved'),
    // If other alerts were opened as one message, the receiver finds none of that key.
    follows: keyOf(notices, 'opened'),
    title: `Resolved: ${title}`,
    facts: [
      ['From', formatTimestamp(since, ' UTC')],
      ['Until', formatTimestamp(until, ' UTC')],
      ...nameAlerts(notices),
    ],
  };
}

/** Names of programs in a title; beyond these, their number. */
const MOST_IN_TITLE = 3;
/** Slack refuses a block of more than 3,000 characters. */
const MOST_NAMES_LENGTH = 1500;

function namesOf(notices: Notices): readonly string[] {
  return notices.flatMap(({ program: { name } }) => name ?? []).toSorted();
}

function nameTitle(notices: Notices): string {
  const names = namesOf(notices);
  if (names.length === 0) return '';
  return names.length > MOST_IN_TITLE ? `${names.length} programs: ` : `${names.join(', ')}: `;
}

/** The causes may differ in a number, such as that of held-back deletions. */
function describeCause(notices: Notices): string {
  const [{ what, code, resource }] = notices;
  if (notices.every((notice) => notice.what === what)) return what;
  return `${code.replaceAll('_', ' ')}${resource === null ? '' : ` (${resource})`}`;
}

function nameAlerts(notices: Notices): Facts {
  const [first] = notices;
  const { code, database, program } = first;
  if (notices.length === 1) {
    const mirror = nameMirror({ schema: program.mirrorSchema, database });
    return [...nameProgram(first), ['Mirror', mirror], ['Alert', `${first.alert_id} (${code})`]];
  }
  return [
    ['Programs', `${notices.length}: ${listNames(namesOf(notices))}`],
    ['Database', database],
    ['Alert', code],
  ];
}

function nameProgram({ program: { name } }: ClaimedNotice): Facts {
  return name === null ? [] : [['Program', name]];
}

function listNames(names: readonly string[]): string {
  const text = names.join(', ');
  if (text.length <= MOST_NAMES_LENGTH) return text;
  const shown = text.slice(0, text.lastIndexOf(', ', MOST_NAMES_LENGTH)).split(', ');
  return `${shown.join(', ')} and ${names.length - shown.length} more`;
}

function describeError({ error_code: code }: ClaimedNotice): Facts {
  if (code === null) return [];
  const words = ERROR_WORDS[code];
  return [['Error', words === undefined ? code : `${code}: ${words}`]];
}

function adviseOn(notices: Notices): Facts {
  const [{ code, error_code, fix }] = notices;
  const [name, ...others] = namesOf(notices);
  const option = name === undefined ? '' : ` --program ${others.length === 0 ? name : 'NAME'}`;
  // A newer version may have noticed it.
  const stays: Facts = isAlertCode(code) ? [['If it stays', ifCauseStays(code, error_code)]] : [];
  return [['Run', `${fix}${option}`], ...stays];
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
