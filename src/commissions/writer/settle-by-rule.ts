// Settles results as they may be stored by then: a try may take minutes, and who is forgotten meanwhile must not be
// quoted by what is noted of it.
//
// A result waits for its transaction, which may wait for the very command that forgets somebody. So each is rewritten
// by what is known when it begins to wait, and the transaction is refused where more is known by then: its results
// are rewritten and settled again.

import { PersonalDataStale } from '../../errors.ts';
import type { PersonalDataSource } from '../../personal-data/personal-data-source.ts';
import type { TryResult, UpdateRecorder } from './record-updates.ts';

/** Returns the recorder that `make` makes of the treatment that it is to keep to. */
export function makeRecorderByRule(
  personalData: PersonalDataSource | undefined,
  make: (personalData: PersonalDataSource | undefined) => UpdateRecorder,
): UpdateRecorder {
  if (personalData === undefined) return make(undefined);
  /** By what each result that is being settled was rewritten. */
  const underWay = new Set<{ readonly rule: string }>();
  const recorder = make({
    ...personalData,
    async current(trx, justRead) {
      const treatment = await personalData.current(trx, justRead);
      if ([...underWay].some(({ rule }) => rule !== personalData.known())) {
        throw new PersonalDataStale('somebody was forgotten while payments were being noted');
      }
      return treatment;
    },
  });
  return {
    intend: recorder.intend,
    async settle(result) {
      for (;;) {
        const one = { rule: personalData.known() };
        underWay.add(one);
        try {
          return await recorder.settle(leaveOutForgotten(result, personalData));
        } catch (error) {
          if (!(error instanceof PersonalDataStale)) throw error;
        } finally {
          underWay.delete(one);
        }
      }
    },
  };
}

function leaveOutForgotten(result: TryResult, { withoutForgotten }: PersonalDataSource): TryResult {
  const { end, lastError, calls } = result;
  const orNull = (text: string | null) => (text === null ? null : withoutForgotten(text));
  return {
    ...result,
    end: end && { ...end, outcome: withoutForgotten(end.outcome), note: orNull(end.note) },
    lastError: orNull(lastError),
    calls: calls.map((call) => ({
      ...call,
      error: call.error && { ...call.error, message: withoutForgotten(call.error.message) },
    })),
  };
}
