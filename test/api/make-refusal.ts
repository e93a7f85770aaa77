// A refusal of the program's, for tests in which no program gives it.

import { ApiRejected } from '../../src/base/errors.ts';

const AT = '2026-10-01T00:00:00Z';

export function makeRefusal(message: string, status: number, isOfProgram = true): ApiRejected {
  return new ApiRejected(message, status, [], { askedAt: AT, answeredAt: AT, isOfProgram });
}
