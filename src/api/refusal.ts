// The meaning of a refusal.

import { ApiRejected } from '../base/errors.ts';
import { isOptional, LISTED_RESOURCES, RESOURCES } from '../contract/resources.ts';
import type { ApiRequest } from './send-request.ts';

/** The contract knows only 404; 410 means by HTTP that the record is gone for good. */
const NOT_FOUND: readonly number[] = [404, 410];

export function saysNotFound(status: number): boolean {
  return NOT_FOUND.includes(status);
}

/**
 * Returns whether the answer is "not found". That need not be the API's own answer: a wrong address answers so to
 * everything, and so does a load balancer without the API behind it.
 */
export function isNotFound(error: unknown): error is ApiRejected {
  return error instanceof ApiRejected && saysNotFound(error.status);
}

/** Returns whether the API itself answers "not found". */
export function isGone(error: unknown): boolean {
  return isNotFound(error) && error.isOfProgram;
}

/** Returns whether the request is for a list that every program has: the API never answers 404 or 410 to it. */
export function isAlwaysThere({ path, query }: Pick<ApiRequest, 'path' | 'query'>): boolean {
  const resource = LISTED_RESOURCES.find((name) => RESOURCES[name].path === path);
  if (resource === undefined || isOptional(resource)) return false;
  const given = new URLSearchParams(query);
  return !RESOURCES[resource].filters.some((filter) => given.has(filter) || given.has(`${filter}[]`));
}
