// What a page of the status site is: an address, and what is read and shown there. The frame around it, the door and
// the headers are the server's.

import type { AmountUnit } from '../config/amount-unit.ts';
import type { GrowthDeps } from '../reports/read-growth.ts';
import type { Html } from './html.ts';

export interface PageDeps extends GrowthDeps {
  readonly amountUnit: AmountUnit;
  /** From which age a resource is stale. */
  readonly maxAgeSeconds: number;
}

export interface PageRequest {
  /** Of the path, decoded: { id: '12' } of /runs/:id. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  /** Whether the person who looks may see personal data; otherwise none is read. */
  readonly mayReadPeople: boolean;
  /** Returns the address of a path of this site, which may be served below another path. */
  readonly href: (path: string) => string;
}

export interface PageContent {
  readonly title: string;
  /** What is inside <main>, its <h1> first. */
  readonly body: Html;
  /** 200 if left out. */
  readonly status?: 200 | 404;
}

export interface Page {
  /** As fastify spells it: /runs/:id. */
  readonly path: string;
  /** Its name in the navigation; null for a page that is reached from another. */
  readonly label: string | null;
  /** Throws: the database's errors. */
  read(deps: PageDeps, request: PageRequest): Promise<PageContent>;
}
