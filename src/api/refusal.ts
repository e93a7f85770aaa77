// What a refusal says about the one commission that a request was about.

import { ApiRejected } from '../errors.ts';

/** The contract knows 404 alone; 410 means by HTTP's own rules that what was asked for is gone for good. */
const NOT_FOUND: readonly number[] = [404, 410];

/**
 * Returns whether the answer is that there is no such thing. That need not be the program's own answer: a wrong address
 * says so of everything, and so does a load balancer that has lost the program behind it.
 */
export function isNotFound(error: unknown): error is ApiRejected {
  return error instanceof ApiRejected && NOT_FOUND.includes(error.status);
}

/** Returns whether the program itself says that there is no such thing. */
export function isGone(error: unknown): boolean {
  return isNotFound(error) && error.isOfProgram;
}
