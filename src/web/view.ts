// A view of the status page: its path, and how its content is read. The server adds the frame, access and headers.

import type { RateLimit } from '../config/program/rate-limit.ts';
import type { MoneyFormat } from '../contract/money.ts';
import type { GrowthDeps } from '../reports/read-growth.ts';
import { type Html, html } from './html.ts';

export interface ViewDeps extends GrowthDeps {
  readonly money: MoneyFormat;
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
  readonly rateLimit: RateLimit;
  /** Returns the next run of each of its schedules after a moment. */
  readonly findNext: (nowMs: number) => readonly Upcoming[];
}

export interface Upcoming {
  /** Such as: full sync. */
  readonly what: string;
  /** In milliseconds since 1970. */
  readonly atMs: number;
  /** The same in the schedule's time zone, and in UTC. */
  readonly moment: string;
  /** The variable with its schedule. */
  readonly variable: string;
}

export interface ViewRequest {
  /** Of the path, decoded: { id: '12' } of /runs/:id. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** If false, no personal data are read. */
  readonly mayReadPeople: boolean;
  /** Returns the address of a view, by its path. */
  readonly href: (path: string) => string;
  /** The program's name; null for the one that the environment describes. */
  readonly program: string | null;
}

export interface ViewContent {
  readonly title: string;
  /** The content of <main>, its <h1> first. */
  readonly body: Html;
  /** 200 if left out. */
  readonly status?: 200 | 404;
}

export interface View {
  /** As fastify spells it: /runs/:id. */
  readonly path: string;
  /** Its name in the navigation; null for a view that is reached from another. */
  readonly label: string | null;
  /** Throws: the database's errors. */
  read(deps: ViewDeps, request: ViewRequest): Promise<ViewContent>;
}

/** Returns the view for an address that names something that the mirror does not have, with a link to its list. */
export function notThere(what: string, back: { readonly href: string; readonly label: string }): ViewContent {
  return {
    title: 'Not found',
    status: 404,
    body: html`<h1>Not found</h1>
<p>${what}</p>
<p><a href="${back.href}">${back.label}</a></p>`,
  };
}
