// What `doctor` found, check by check, as it is printed and as it is counted.

import { asDatabaseError } from '../../db/as-database-error.ts';
import { describeError } from '../../describe-error.ts';
import { AppError, ConfigError } from '../../errors.ts';
import type { DoctorDocument } from '../documents/doctor.ts';

export interface Report {
  readonly checks: readonly DoctorDocument['checks'][number][];
  /** Returns what was found, or null where the check failed: what builds on it is then not checked. */
  readonly check: <T>(subject: string, look: () => Promise<{ found: T; says: string }>) => Promise<T | null>;
  /** Notes that the subjects are not checked while that is so. */
  readonly leaveOut: (subjects: readonly string[], reason: string) => void;
}

/** Returns an empty report; every line is printed as soon as it is known. A bug in a check is thrown. */
export function makeReport(signal: AbortSignal, print: (line: string) => void): Report {
  const checks: DoctorDocument['checks'] = [];
  return {
    checks,
    async check(subject, look) {
      signal.throwIfAborted();
      try {
        const { found, says } = await look();
        checks.push({ subject, state: 'passed', says: [says] });
        print(`✓ ${subject}: ${says}`);
        return found;
      } catch (thrown) {
        // Then it is why the check failed.
        signal.throwIfAborted();
        const error = asDatabaseError(thrown);
        if (!(error instanceof AppError)) throw error;
        const says = error instanceof ConfigError ? [...error.problems] : [describeError(error)];
        checks.push({ subject, state: 'failed', says });
        for (const problem of says) print(`✗ ${subject}: ${problem}`);
        return null;
      }
    },
    leaveOut(subjects, reason) {
      const says = [`not checked while ${reason}`];
      checks.push(...subjects.map((subject) => ({ subject, state: 'not_checked' as const, says })));
      print(`– ${subjects.join(', ')}: not checked while ${reason}`);
    },
  };
}
