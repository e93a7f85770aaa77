// What each kind of role may do, as SQL for a DBA to read and run.
//
// Everything is granted on what is there, and on tables of later migrations by default privileges of the role that owns
// the tables, since a migration makes them as that role.

import { escapeIdentifier, escapeLiteral } from 'pg';

export const GRANTEES = ['worker', 'analyst', 'payroll'] as const;
export type Grantee = (typeof GRANTEES)[number];

/** The tables and views that analysts read; the others keep the mirror's own books (a test compares the comments). */
export const ANALYST_RELATIONS: readonly string[] = [
  'campaigns',
  'affiliates',
  'links',
  'referrals',
  'sales',
  'commissions',
  'record_history',
  'conversion_events',
  'commission_totals',
  'commission_differences',
  'unpaid_commissions',
  'commission_list',
  'commission_updates',
  'commission_update_attempts',
  'commission_ledger',
  'tracked_commissions',
  'sync_runs',
  'held_back_deletions',
  'rejected_records',
  'schema_drift',
  'request_budget',
  'request_permits',
];

/** Those that a default privilege would open to analysts, had they been made after it. */
export const BOOKKEEPING_TABLES: readonly string[] = [
  'schema_migrations',
  'seen_rows',
  'covered_counters',
  'worker_state',
  'exports',
];

/** What a request for a commission update is made of. */
const REQUEST_COLUMNS = [
  'batch_id',
  'commission_id',
  'action',
  'paid_at',
  'due_at',
  'expected_unpaid',
  'expected_paid_at',
  'expected_amount',
  'expected_currency',
  'reason',
  'requested_by',
  'idempotency_key',
  'supersede',
  'even_if_refunded',
];

/** Functions that statements call by name; those of triggers need no right of the role that writes. */
const CALLED_FUNCTIONS = ['take_permit', 'learn_limits', 'return_permit', 'lock_for_loading', 'take_lock'];

export interface GrantsInput {
  readonly role: string;
  /** The mirror's schema. */
  readonly schema: string;
  /** The schema of the queue; null where Redis keeps it. */
  readonly queueSchema: string | null;
}

/** Where the migrations of the mirror, and those of the queue (BullMQ's), are noted. */
export const NOTED_IN = { mirror: 'schema_migrations', queue: 'migration' } as const;

/** Returns the SQL, in one transaction. Idempotent: yes. */
export function describeGrants(grantee: Grantee, input: GrantsInput): string {
  const { says, statements } = KINDS[grantee](input);
  return [
    `-- ${says}`,
    '-- Run it after affiliate-mirror migrate, as the role that ran that, or as a superuser; again after an update.',
    `-- It needs the role: create role ${escapeIdentifier(input.role)} login password '...';`,
    'begin;',
    ...statements,
    'commit;',
  ].join('\n');
}

interface Kind {
  readonly says: string;
  readonly statements: readonly string[];
}

const KINDS: Readonly<Record<Grantee, (input: GrantsInput) => Kind>> = {
  worker: ({ role, schema, queueSchema }) => {
    const to = escapeIdentifier(role);
    const queue =
      queueSchema === null
        ? []
        : [
            ...writeAll(queueSchema, NOTED_IN.queue, to),
            `grant usage on all sequences in schema ${escapeIdentifier(queueSchema)} to ${to};`,
            `grant execute on all functions in schema ${escapeIdentifier(queueSchema)} to ${to};`,
            ...later(queueSchema, NOTED_IN.queue, role, [
              'select, insert, update, delete on tables',
              'usage on sequences',
              'execute on functions',
            ]),
          ];
    return {
      says: 'What the commands work, sync, status, doctor and commissions need.',
      statements: [
        ...writeAll(schema, NOTED_IN.mirror, to),
        `grant execute on function ${listed(schema, CALLED_FUNCTIONS)} to ${to};`,
        ...later(schema, NOTED_IN.mirror, role, ['select, insert, update, delete on tables']),
        ...queue,
      ],
    };
  },
  analyst: ({ role, schema }) => {
    const to = escapeIdentifier(role);
    return {
      says: 'What an analyst needs: to read, and not the tables that keep the mirror its own books.',
      statements: [
        `grant usage on schema ${escapeIdentifier(schema)} to ${to};`,
        `grant select on ${listed(schema, ANALYST_RELATIONS)} to ${to};`,
        `revoke all on ${listed(schema, BOOKKEEPING_TABLES)} from ${to};`,
        `grant execute on function ${escapeIdentifier(schema)}.referrals_at to ${to};`,
        ...later(schema, NOTED_IN.mirror, role, ['select on tables']),
      ],
    };
  },
  payroll: ({ role, schema }) => {
    const to = escapeIdentifier(role);
    return {
      says: 'What a role needs that asks for commission updates, and reads what became of them.',
      statements: [
        `grant usage on schema ${escapeIdentifier(schema)} to ${to};`,
        `grant insert (${REQUEST_COLUMNS.join(', ')})\n  on ${escapeIdentifier(schema)}.commission_updates to ${to};`,
        `grant select on ${listed(schema, ['commission_updates', 'commission_update_attempts', 'commission_ledger'])} to ${to};`,
        '-- So that the commands of affiliate-mirror commissions see that the tables are of their version.',
        `grant select on ${escapeIdentifier(schema)}.${NOTED_IN.mirror} to ${to};`,
      ],
    };
  },
};

function writeAll(schema: string, migrationsTable: string, to: string): string[] {
  return [
    `grant usage on schema ${escapeIdentifier(schema)} to ${to};`,
    `grant select, insert, update, delete on all tables in schema ${escapeIdentifier(schema)} to ${to};`,
    '-- Only whoever migrates writes down which migrations ran.',
    `revoke insert, update, delete on ${escapeIdentifier(schema)}.${migrationsTable} from ${to};`,
  ];
}

/** For whatever the owner of the table makes in the schema from now on. */
function later(schema: string, table: string, role: string, rights: readonly string[]): string[] {
  const inSchema = escapeLiteral(schema);
  const statements = rights.map(
    (right) =>
      `  execute format('alter default privileges for role %I in schema %I grant ${right} to %I',\n    owner, ${inSchema}, ${escapeLiteral(role)});`,
  );
  return [
    '-- The same for what later migrations make.',
    'do $grants$',
    'declare',
    '  owner constant name := (',
    `    select tableowner from pg_tables where schemaname = ${inSchema} and tablename = '${table}'`,
    '  );',
    'begin',
    ...statements,
    'end',
    '$grants$;',
  ];
}

function listed(schema: string, relations: readonly string[]): string {
  return relations.map((name) => `${escapeIdentifier(schema)}.${name}`).join(',\n  ');
}
