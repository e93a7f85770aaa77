// What each kind of role may do, as SQL for a DBA to read and run.
//
// Everything is granted on what is there, and on tables of later migrations by default privileges of the role that owns
// the tables, since a migration makes them as that role.

import { escapeIdentifier, escapeLiteral } from 'pg';
import { ANALYST_RELATIONS, BOOKKEEPING_TABLES } from './relations.ts';
import { reportsSchema } from './sibling-schema.ts';

export const GRANTEES = ['worker', 'analyst', 'analyst_pii', 'payroll'] as const;
export type Grantee = (typeof GRANTEES)[number];

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
const CALLED_FUNCTIONS = [
  'take_permit',
  'learn_limits',
  'return_permit',
  'kept_personal_data',
  'lock_for_storing',
  'lock_for_loading',
  'note_recognised',
  'count_forgotten',
  'take_lock',
  'is_same_request',
  'change_stamp',
  'stamp_changes',
];

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
            ...later({
              schema: queueSchema,
              role,
              notedIn: NOTED_IN.queue,
              rights: [
                'select, insert, update, delete on tables',
                'usage on sequences',
                'execute on functions',
              ],
            }),
          ];
    return {
      says: 'What the commands work, sync, status, doctor and commissions need.',
      statements: [
        ...writeAll(schema, NOTED_IN.mirror, to),
        `grant execute on function ${listed(schema, CALLED_FUNCTIONS)} to ${to};`,
        ...later({ schema, role, rights: ['select, insert, update, delete on tables'] }),
        ...readReports(schema, role),
        ...queue,
      ],
    };
  },
  analyst: ({ role, schema }) => {
    const to = escapeIdentifier(role);
    return {
      says: 'What an analyst needs: to read the reports, with personal data masked, and nothing else.',
      statements: [
        ...readReports(schema, role),
        '-- Whoever reads the tables sees personal data in the reports too: what the role could read there is taken back.',
        `revoke all on all tables in schema ${escapeIdentifier(schema)} from ${to};`,
        `revoke all on schema ${escapeIdentifier(schema)} from ${to};`,
        ...later({ schema, role, rights: ['select on tables'], verb: 'revoke' }),
      ],
    };
  },
  analyst_pii: ({ role, schema }) => {
    const to = escapeIdentifier(role);
    return {
      says: 'What an analyst needs who may see personal data: to read the reports, and the tables, but not those that keep the mirror its own books.',
      statements: [
        ...readReports(schema, role),
        `grant usage on schema ${escapeIdentifier(schema)} to ${to};`,
        `grant select on ${listed(schema, ANALYST_RELATIONS)} to ${to};`,
        `revoke all on ${listed(schema, BOOKKEEPING_TABLES)} from ${to};`,
        `grant execute on function ${escapeIdentifier(schema)}.referrals_at to ${to};`,
        ...later({ schema, role, rights: ['select on tables'] }),
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

/** All of them: the schema has nothing but views for reading. */
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

/** For whatever the owner of the table makes in the target from now on. */
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

function listed(schema: string, relations: readonly string[]): string {
  return relations.map((name) => `${escapeIdentifier(schema)}.${name}`).join(',\n  ');
}
