// Decides what becomes of rows that a verified walk did not meet. Missing is not deleted: each place where such a
// record would be is read once more, and only what is missing there too is gone. Too many at once are held back: they
// are more likely a mistake of the program's than deletions. Held back as well are commissions for which the program
// still has an answer at their own address, but none that can be read. Commissions that the program does not have at
// their own address do not count as too many, nor do referrals of an affiliate that is gone, nor what somebody
// accepted. Marks nothing itself.

import { counted } from '../contract/format.ts';
import type { ListedResource } from '../contract/resources.ts';
import { findOfGoneAffiliates } from '../mirror/gone-affiliates.ts';
import { readAccepted } from '../mirror/held-back.ts';
import { findMissing, type Missing } from '../mirror/mark-deleted.ts';
import { HANDFUL, type LookInput, lookAgain } from './look-again.ts';
import { type ReadById, readById } from './read-by-id.ts';
import type { Gone, SettledMissing, SyncDeps, WalkInput } from './walk.ts';

/**
 * Where more rows than this, and more than the share, are missing at once and nobody confirms it, they are held back.
 */
const PLAUSIBLE_ROWS = 10;
const PLAUSIBLE_SHARE = 0.02;

type SettleInput = LookInput & Pick<WalkInput, 'run' | 'acceptDeletes'>;

/**
 * Returns the rows that are gone, and those that are held back: too many at once that nobody confirmed (unless
 * `acceptDeletes`), or not to be looked for once more.
 *
 * To be called after a verified walk only.
 */
export async function settleMissing(deps: SyncDeps, input: SettleInput): Promise<SettledMissing> {
  const { run, resource, loader } = input;
  const find = () => findMissing(deps.db, { runId: run.id, resource, seen: loader.seen });
  const missing = await find();
  if (missing.ids.length === 0) return { gone: null, heldBack: null, isWhole: true };

  const { gone: confirmed, unreadable } = await confirm(deps, input, missing);
  // A commission that was asked for and is there was met by that.
  const unmet = resource === 'commissions' ? await find() : missing;
  const doubted = new Set(unmet.ids).difference(new Set(confirmed?.ids));
  const undecided = await findUndecided(deps, input, { doubted, unreadable, living: missing.living });
  const toRead = doubted.difference(undecided.ids);
  const readAt = toRead.size === 0 ? null : await lookAgain(deps, input, [...toRead]);
  const whyUnread = toRead.size === 0 || readAt !== null ? null : UNREAD;

  // What was met meanwhile is no longer missing. After a second walk that failed, what it did not reach is: but it is
  // held back.
  const still = await find();
  const stillOf = (...ids: Iterable<string>[]) => {
    const these = new Set(ids.flatMap((some) => [...some]));
    return still.ids.filter((id) => these.has(id));
  };
  const observedAt = confirmed?.observedAt ?? readAt;
  const gone = stillOf(confirmed?.ids ?? [], whyUnread === null ? toRead : []);
  const held = stillOf(undecided.ids, whyUnread === null ? [] : toRead);
  const why = undecided.areTooMany ? tooManyOf(resource) : (whyUnread ?? UNREADABLE);
  return settled(observedAt === null ? null : { ids: gone, observedAt }, { ids: held, why });
}

/** Returns those that the program itself says are gone, and those that it answers with what cannot be read. */
async function confirm(
  deps: SyncDeps,
  input: SettleInput,
  { ids, living }: Missing,
): Promise<Pick<ReadById, 'gone' | 'unreadable'>> {
  if (input.resource !== 'commissions') return { gone: null, unreadable: [] };
  // As many as a second walk has pages; what is more is treated like any other row.
  return readById(deps, input, ids.slice(0, Math.max(HANDFUL, Math.ceil(living / input.limit))));
}

/** Returns those that are held back without being read once more, and whether that is for their number. */
async function findUndecided(
  deps: SyncDeps,
  { resource, acceptDeletes }: SettleInput,
  {
    doubted,
    unreadable,
    living,
  }: { doubted: ReadonlySet<string>; unreadable: readonly string[]; living: number },
): Promise<{ ids: ReadonlySet<string>; areTooMany: boolean }> {
  const expected = resource === 'referrals' ? await findOfGoneAffiliates(deps.db, [...doubted]) : new Set();
  const accepted = acceptDeletes ? doubted : await readAccepted(deps.db, resource);
  const unaccepted = doubted.difference(accepted).difference(expected);
  const plausible = Math.max(PLAUSIBLE_ROWS, Math.floor(living * PLAUSIBLE_SHARE));
  const areTooMany = unaccepted.size > plausible;
  return { ids: areTooMany ? unaccepted : unaccepted.intersection(new Set(unreadable)), areTooMany };
}

const UNREAD = 'they could not be looked for once more: the next sync tries again';
const UNREADABLE =
  'the program answers for each of them by itself, with something that cannot be read; if they are really gone, run ' +
  '"affiliate-mirror deletions accept commissions"';

function tooManyOf(resource: ListedResource): string {
  return (
    `more than ${PLAUSIBLE_ROWS} and more than ${PLAUSIBLE_SHARE * 100} % of the table are missing at once; see ` +
    `"affiliate-mirror deletions list ${resource}", and if they are really gone, run ` +
    `"affiliate-mirror deletions accept ${resource}"`
  );
}

function settled(
  gone: Gone | null,
  held: { readonly ids: readonly string[]; readonly why: string },
): SettledMissing {
  return {
    gone: gone === null || gone.ids.length === 0 ? null : gone,
    heldBack:
      held.ids.length === 0
        ? null
        : { ids: held.ids, reason: `${counted(held.ids.length, 'deletion')} held back: ${held.why}` },
    isWhole: true,
  };
}
