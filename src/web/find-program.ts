// Which program a request is about: the one of its path, or the one that the environment describes.

import type { FastifyRequest } from 'fastify';
import type { PageProgram, StatusPageDeps } from './status-page.ts';

/** Returns null if the path names none that is served. */
export type FindProgram = (request: FastifyRequest) => PageProgram | null;

export function makeFindProgram({ programs }: Pick<StatusPageDeps, 'programs'>): FindProgram {
  return (request) => {
    const { program = null } = (request.params ?? {}) as { readonly program?: string };
    return programs().find(({ name }) => name === program) ?? null;
  };
}

/** Returns whether the programs are those of PROGRAMS_FILE, whose list is the first view then. */
export function areListed(programs: readonly PageProgram[]): boolean {
  return programs.every(({ name }) => name !== null);
}
