// The frames of the site's answers: which navigation, which program, and whether personal data are shown.

import type { FastifyRequest } from 'fastify';
import type { Timestamp } from '../contract/timestamp.ts';
import { addressOf, rootOf } from './base-path.ts';
import type { Frame, NavigationItem } from './layout.ts';
import type { PageProgram } from './status-page.ts';
import type { View } from './view.ts';

export interface FramesOptions {
  readonly basePath: string;
  readonly canShowPeople: boolean;
  /** Whether PROGRAMS_FILE lists the programs, which the site then lists at /. */
  readonly isListed: boolean;
  readonly views: readonly View[];
  readonly hasBoard: boolean;
}

interface Place {
  /** Null for the list of programs, and in answers that belong to none. */
  readonly program: PageProgram | null;
  /** See Frame. */
  readonly here: string | null;
  readonly now: Timestamp | null;
}

export type FrameOf = (request: FastifyRequest, place: Place) => Frame;

export function makeFrameOf(options: FramesOptions): FrameOf {
  const { basePath, canShowPeople } = options;
  return (request, { program, here, now }) => ({
    schema: program?.viewDeps.mirrorSchema ?? null,
    program: program?.name ?? null,
    href: (path) => addressOf(basePath, path),
    root: rootOf(program?.name ?? null),
    navigation: navigationOf(options, program),
    here,
    people: request.right === 'people' ? 'shown' : canShowPeople ? 'hidden' : 'never',
    now,
  });
}

/** Returns the frame of a refusal: it shows neither the schema nor the navigation. */
export function outerFrame(basePath: string): Frame {
  const href = (path: string) => addressOf(basePath, path);
  return {
    schema: null,
    program: null,
    href,
    root: '',
    navigation: [],
    here: null,
    people: 'never',
    now: null,
  };
}

function navigationOf(
  { isListed, views, hasBoard }: FramesOptions,
  program: PageProgram | null,
): readonly NavigationItem[] {
  const root = rootOf(program?.name ?? null);
  const own = views.flatMap(({ path, label }) => (label === null ? [] : [{ path: `${root}${path}`, label }]));
  return [
    ...(isListed ? [{ path: '/', label: 'Programs' }] : []),
    ...(isListed && program === null ? [] : own),
    ...(hasBoard ? [{ path: '/queue', label: 'Queue' }] : []),
  ];
}
