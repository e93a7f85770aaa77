// The rights of each kind of role, as SQL for a DBA to read and run.
//
// Rights are granted on the present tables, and on those of later migrations by default privileges of the role that
// owns the tables, because a migration makes them as that role.

import { escapeIdentifier, escapeLiteral } from 'pg';
import { reportsSchema } from '../../config/program/sibling-schema.ts';
import { ANALYST_RELATIONS, BOOKKEEPING_TABLES, type Grantee } from '../relations.ts';
import { checkOtherWays } from './check-other-ways.ts';

/** The columns of a payment request that its requester fills in. */
const REQUEST_COLUMNS = [
  'batch_id',
  'commission_id',
  'payout_id',
  'action',
  'paid_at',
  'due_at',
  'expected_unpaid',
  'expected_paid_at',
  'expected_amount',
  'expected_currency',
  'expected_commissions',
  'reason',
  'requested_by',
  'idempotency_key',
  'supersede',
  'even_if_refunded',
];

/** The functions that any client may call to ask for payments. */
const ASKING = ['request_turn', 'is_same_request', 'overtaken_by', 'ask_for_updates', 'payout_under_way'];

/** The columns of commissions for the answer to a request that was made before: none is personal. */
const LATEST_COLUMNS = ['id', 'paid_at', 'due_at', 'amount', 'currency', '_deleted_at', '_observed_at'];

export interface GrantsInput {
  readonly role: string;
  /** The mirror's schema. */
  readonly schema: string;
  /** Null if the queue is in Redis. */
  readonly queueSchema: string | null;
}

/** The tables with the applied migrations of the mirror, and of the queue (BullMQ's). */
export const NOTED_IN = { mirror: 'schema_migrations', queue: 'migration' } as const;

/** Returns the SQL, in one transaction. Idempotent: yes. */
export function describeGrants(grantee: Grantee, input: GrantsInput): string {
  const { says, statements, forbidden } = KINDS[grantee](input);
  const { role, schema, queueSchema } = input;
  const schemas = [schema, ...(queueSchema === null ? [] : [queueSchema])] as const;
  return [
    `-- ${says}`,
    '-- Run it after affiliate-mirror migrate, as the role that ran that, or as a superuser; again after an update.',
    `-- It needs the role: create role ${escapeIdentifier(input.role)} login password '...';`,
    'begin;',
    ...statements,
    checkOtherWays({ role, schemas, notedIn: NOTED_IN.mirror, forbidden }),
    'commit;',
  ].join('\n');
}

interface Kind {
  readonly says: string;
  readonly statements: readonly string[];
  /** The rights that the role must not have by another way either: see checkOtherWays. */
  readonly forbidden: string;
}

const LEDGER = ['commission_updates', 'commission_update_attempts', 'commission_ledger'];

const KINDS: Readonly<Record<Grantee, (input: GrantsInput) => Kind>> = {
  worker: ({ role, schema, queueSchema }) => ({
    says: 'The rights for the commands work, sync, status, doctor and commissions.',
    statements: [
      ...writeAll(schema, NOTED_IN.mirror, role),
      ...readReports(schema, role),
      ...(queueSchema === null ? [] : writeAll(queueSchema, NOTED_IN.queue, role)),
    ],
    forbidden: `relation in (${literals(Object.values(NOTED_IN))}) and privilege_type <> 'SELECT'`,
  }),
  analyst: ({ role, schema }) => ({
    says: 'The rights of an analyst: to read the reports, with personal data masked, and nothing else.',
    statements: [
      ...readReports(schema, role),
      '-- A role that reads the tables sees personal data in the reports too, so its rights on tables are taken back.',
      ...takeBack(schema, role),
    ],
    forbidden: 'true',
  }),
  analyst_pii: ({ role, schema }) => {
    const to = escapeIdentifier(role);
    return {
      says: 'The rights of an analyst who may see personal data: to read the reports, and all tables except bookkeeping.',
      statements: [
        ...takeBack(schema, role),
        ...readReports(schema, role),
        `grant usage on schema ${escapeIdentifier(schema)} to ${to};`,
        `grant select on ${listed(schema, ANALYST_RELATIONS)} to ${to};`,
        `grant execute on function ${escapeIdentifier(schema)}.referrals_at to ${to};`,
        `grant execute on function ${escapeIdentifier(schema)}.payout_under_way to ${to};`,
        ...later({ schema, role, rights: ['select on tables'] }),
      ],
      forbidden: `privilege_type <> 'SELECT' or schema <> ${escapeLiteral(schema)} or relation in (${literals(BOOKKEEPING_TABLES)})`,
    };
  },
  payroll: ({ role, schema }) => {
    const to = escapeIdentifier(role);
    const own = [...LEDGER, NOTED_IN.mirror, 'optional_lists'];
    return {
      says: 'The rights of a role that asks for payments, and reads their outcome.',
      statements: [
        ...takeBack(schema, role),
        `grant usage on schema ${escapeIdentifier(schema)} to ${to};`,
        `grant insert (${REQUEST_COLUMNS.join(', ')})\n  on ${escapeIdentifier(schema)}.commission_updates to ${to};`,
        '-- By the last two, the commands check the version of the tables, and whether the API lists payouts.',
        `grant select on ${listed(schema, own)} to ${to};`,
        `grant select (${LATEST_COLUMNS.join(', ')})\n  on ${escapeIdentifier(schema)}.commissions to ${to};`,
        ...ASKING.map((name) => `grant execute on function ${escapeIdentifier(schema)}.${name} to ${to};`),
      ],
      forbidden: `(privilege_type = 'SELECT' and relation in (${literals(own)})
        or privilege_type = 'SELECT' and relation = 'commissions' and grantee = asked.oid
        or privilege_type = 'INSERT' and relation = 'commission_updates' and grantee = asked.oid) is not true`,
    };
  },
};

function writeAll(schema: string, notedIn: string, role: string): string[] {
  const to = escapeIdentifier(role);
  const where = `in schema ${escapeIdentifier(schema)} to ${to};`;
  return [
    `grant usage on schema ${escapeIdentifier(schema)} to ${to};`,
    `grant select, insert, update, delete on all tables ${where}`,
    '-- Only the owner of the tables notes which migrations ran.',
    `revoke insert, update, delete on ${escapeIdentifier(schema)}.${notedIn} from ${to};`,
    `grant usage, select on all sequences ${where}`,
    `grant execute on all functions ${where}`,
    ...later({
      schema,
      role,
      notedIn,
      rights: [
        'select, insert, update, delete on tables',
        'usage, select on sequences',
        'execute on functions',
      ],
    }),
  ];
}

/** Takes back the rights that were granted to the role itself, as one of another kind. */
function takeBack(schema: string, role: string): string[] {
  const from = escapeIdentifier(role);
  return [
    `revoke all on all tables in schema ${escapeIdentifier(schema)} from ${from};`,
    `revoke all on schema ${escapeIdentifier(schema)} from ${from};`,
    ...later({ schema, role, rights: ['all on tables'], verb: 'revoke' }),
  ];
}

/** The whole schema: it has only views. */
function readReports(schema: string, role: string): string[] {
  const reports = escapeIdentifier(reportsSchema(schema));
  const to = escapeIdentifier(role);
  return [
    `grant usage on schema ${reports} to ${to};`,
    `grant select on all tables in schema ${reports} to ${to};`,
    ...later({ schema, target: reportsSchema(schema), role, rights: ['select on tables'] }),
  ];
}

interface LaterRights {
  readonly schema: string;
  readonly role: string;
  readonly rights: readonly string[];
  /** The schema in which they are granted; the same if left out. */
  readonly target?: string;
  /** The table of the schema whose owner migrates; the mirror's if left out. */
  readonly notedIn?: string;
  readonly verb?: 'grant' | 'revoke';
}

/** Default privileges on all that the owner of the table makes in the target from now on. */
function later({
  schema,
  role,
  rights,
  target = schema,
  notedIn = NOTED_IN.mirror,
  verb = 'grant',
}: LaterRights): string[] {
  const statements = rights.map(
    (right) =>
      `  execute format('alter default privileges for role %I in schema %I ${verb} ${right} ${verb === 'grant' ? 'to' : 'from'} %I',\n    owner, ${escapeLiteral(target)}, ${escapeLiteral(role)});`,
  );
  return [
    '-- The same for what later migrations make.',
    'do $grants$',
    'declare',
    '  owner constant name := (',
    `    select tableowner from pg_tables where schemaname = ${escapeLiteral(schema)} and tablename = '${notedIn}'`,
    '  );',
    'begin',
    ...statements,
    'end',
    '$grants$;',
  ];
}

function literals(names: readonly string[]): string {
  return names.map(escapeLiteral).join(', ');
}

function listed(schema: string, relations: readonly string[]): string {
  return relations.map((name) => `${escapeIdentifier(schema)}.${name}`).join(',\n  ');
}
