// What a sync is compared with, each the simplest code that does its part: COPY of the same rows, fetching and
// parsing the same pages, and what a user would write by hand. Uses nothing of src/ but the names of the fields.

import type pg from 'pg';
import { Pool } from 'undici';
import { isValue } from '../../src/contract/declare.ts';
import { RECORDS } from '../../src/contract/records.ts';
import type { Pool as DatabasePool } from '../../src/db/connect/shared-pool.ts';
import type { BenchPostgres } from './bench-database.ts';
import { type CopiedTable, copyIn, copyOut } from './copy-rows.ts';

/** The tables that a full sync fills. */
const TABLES = ['campaigns', 'affiliates', 'links', 'referrals'];
const LIMIT = 100;

/** Returns all rows that the sync has written. */
export async function readRows(pool: DatabasePool): Promise<readonly CopiedTable[]> {
  return withClient(pool, async (client) => {
    const tables: CopiedTable[] = [];
    for (const table of TABLES) tables.push(await copyOut(client, table));
    return tables;
  });
}

/**
 * Baseline A: COPY of these rows into the emptied tables with their indexes in place; and the CPU time of it, of
 * Postgres and this process, null where that of Postgres cannot be read. Without the tables' triggers, which a sync
 * runs: they keep the history, and here they would stamp every row anew, since its stamp is that of the sync.
 * Measured: five times the CPU time.
 */
export async function measureCopy(
  postgres: BenchPostgres,
  pool: DatabasePool,
  tables: readonly CopiedTable[],
): Promise<{ ms: number; cpuMs: number | null }> {
  return withClient(pool, async (client) => {
    await emptyTables(client);
    await client.query('set session_replication_role = replica');
    const readServerMs = postgres.startCpu();
    const before = process.cpuUsage();
    const ms = await timed(async () => {
      for (const table of tables) await copyIn(client, table);
    });
    const { user, system } = process.cpuUsage(before);
    const serverMs = readServerMs();
    await client.query('reset session_replication_role');
    return { ms, cpuMs: serverMs === null ? null : serverMs + (user + system) / 1000 };
  });
}

/** Baseline B, in milliseconds: every page fetched and parsed, and nothing done with it. */
export async function measureFetch(programUrl: string): Promise<number> {
  return timed(async () => {
    for await (const _ of pagesOf(programUrl)) {
      // Nothing is done with it.
    }
  });
}

/** Baseline C, in milliseconds per row: pages in sequence, and for each referral one `insert … on conflict`. */
export async function measureRowByRow(
  pool: DatabasePool,
  programUrl: string,
  pages: number,
): Promise<{ eachCommitted: number; pageCommitted: number }> {
  return withClient(pool, async (client) => {
    await emptyTables(client);
    const eachCommitted = await timed(() => insertRows(client, programUrl, pages, false));
    await emptyTables(client);
    const pageCommitted = await timed(() => insertRows(client, programUrl, pages, true));
    const rows = pages * LIMIT;
    return { eachCommitted: eachCommitted / rows, pageCommitted: pageCommitted / rows };
  });
}

async function insertRows(
  client: pg.PoolClient,
  programUrl: string,
  pages: number,
  isOneTransactionPerPage: boolean,
): Promise<void> {
  let left = pages;
  for await (const records of pagesOf(programUrl)) {
    if (isOneTransactionPerPage) await client.query('begin');
    for (const record of records) await client.query(INSERT, valuesOf(record));
    if (isOneTransactionPerPage) await client.query('commit');
    left -= 1;
    if (left === 0) return;
  }
}

const { fields } = RECORDS.referrals;
/** The columns of a referral's own fields, and those that hold the customer's fields, by their names. */
const OWN = Object.entries(fields).flatMap(([name, field]) =>
  isValue(field) && field.presence !== 'seen in the wild' ? [name] : [],
);
const CUSTOMER = Object.keys(fields.customer.fields);
const ALL_COLUMNS = [...OWN, ...CUSTOMER.map((name) => `customer_${name}`), 'affiliate_id', 'link_id'];
const INSERT = `insert into referrals (${ALL_COLUMNS.join(', ')}, _first_seen_at, _changed_at, _observed_at)
  values (${ALL_COLUMNS.map((_, index) => `$${index + 1}`).join(', ')}, now(), now(), now())
  on conflict (id) do update set ${ALL_COLUMNS.map((column) => `${column} = excluded.${column}`).join(', ')},
    _changed_at = now(), _observed_at = now()`;

type Listed = Readonly<Record<string, unknown>> & {
  readonly affiliate: { readonly id: string };
  readonly link: { readonly id: string };
  readonly customer: Readonly<Record<string, unknown>> | null;
};

function valuesOf(record: Listed): unknown[] {
  const { affiliate, link, customer } = record;
  return [
    ...OWN.map((name) => record[name]),
    ...CUSTOMER.map((name) => customer?.[name]),
    affiliate.id,
    link.id,
  ];
}

async function* pagesOf(programUrl: string): AsyncGenerator<readonly Listed[]> {
  const pool = new Pool(programUrl);
  try {
    for (let page: number | null = 1; page !== null; ) {
      const path = `/v1/referrals?page=${page}&limit=${LIMIT}&expand=affiliate`;
      const { body } = await pool.request({ method: 'GET', path });
      const answer = JSON.parse(await body.text()) as {
        pagination: { next_page: number | null };
        data: readonly Listed[];
      };
      yield answer.data;
      page = answer.pagination.next_page;
    }
  } finally {
    await pool.close();
  }
}

async function emptyTables(client: pg.PoolClient): Promise<void> {
  await client.query(`truncate ${TABLES.join(', ')}`);
  await client.query('checkpoint');
}

async function withClient<T>(pool: DatabasePool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
