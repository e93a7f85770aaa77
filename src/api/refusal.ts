// What a refusal says of what was asked for.

import { isOptional, LISTED_RESOURCES, RESOURCES } from '../contract/resources.ts';
import { ApiRejected } from '../errors.ts';
import type { ApiRequest } from './send-request.ts';

/** The contract knows 404 alone; 410 means by HTTP's own rules that what was asked for is gone for good. */
const NOT_FOUND: readonly number[] = [404, 410];

/** Returns whether the status says that there is no such thing. */
export function saysNotFound(status: number): boolean {
  return NOT_FOUND.includes(status);
}

/**
 * Returns whether the answer is that there is no such thing. That need not be the program's own answer: a wrong address
 * says so of everything, and so does a load balancer that has lost the program behind it.
 */
export function isNotFound(error: unknown): error is ApiRejected {
  return error instanceof ApiRejected && saysNotFound(error.status);
}

/** Returns whether the program itself says that there is no such thing. */
export function isGone(error: unknown): boolean {
  return isNotFound(error) && error.isOfProgram;
}

/** Returns whether a request is for what every program has, whatever its data: it never says 404 or 410 to that. */
export function isAlwaysThere({ path, query }: Pick<ApiRequest, 'path' | 'query'>): boolean {
  const resource = LISTED_RESOURCES.find((name) => RESOURCES[name].path === path);
  if (resource === undefined || isOptional(resource)) return false;
  const given = new URLSearchParams(query);
  return !RESOURCES[resource].filters.some((filter) => given.has(filter) || given.has(`${filter}[]`));
}

/**
 * Returns whether the next attempt may be answered otherwise: something in front of the program refuses, and does not
 * say by that that there is no such thing.
 */
export function mayPass(error: unknown, request: ApiRequest): boolean {
  if (!(error instanceof ApiRejected) || error.isOfProgram) return false;
  return !isNotFound(error) || isAlwaysThere(request);
}
