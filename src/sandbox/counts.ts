// The counts of the sandbox and their triggers: the counters of affiliates and links, and how many records of each list
// were created on each day, by state. They give the total of a list and the day on which a page begins: without them
// the last page of a million records would cost reading a million.
//
// Decisions where the contract is silent:
// - An affiliate's and a link's visitors, leads and conversions are counts of the referrals that exist: a
//   conversion counts as lead and visitor too, a lead as visitor; a deleted referral leaves all of them.
// - A counter that moves does not move the `updated_at` of its affiliate.

/** Every list, with its column that takes several filter values, or a constant. */
export const LISTS = {
  affiliates: 'state',
  referrals: 'conversion_state',
  campaigns: "'any'",
  commissions: 'state',
  payouts: 'state',
} as const;

export type List = keyof typeof LISTS;

type Change = 'added' | 'removed' | 'changed';

/** Of each change: the event, its transition tables, and the rows that they hold, counted as `sign`. */
const CHANGES = {
  added: ['insert', 'new table as added', ['added']],
  removed: ['delete', 'old table as removed', ['removed']],
  changed: ['update', 'new table as added old table as removed', ['added', 'removed']],
} as const satisfies Record<Change, readonly [string, string, readonly ('added' | 'removed')[]]>;

const EVERY_TRIGGER = (Object.keys(LISTS) as List[]).flatMap((list) =>
  (Object.keys(CHANGES) as Change[]).map((change) => ({ list, change, name: `count_${list}_${change}` })),
);

export const COUNTING_FUNCTIONS = EVERY_TRIGGER.map(({ name }) => name);

/** The day, in UTC, to which a record of that time counts. */
export const dayOf = (time: string) => `(${time} at time zone 'UTC')::date`;

/** Counts everything anew, after tables were filled without triggers. */
export function countAllSql(s: string): string {
  const recount = (table: string, key: string) => `
update ${s}.${table} t
   set visitors = c.visitors, leads = c.leads, conversions = c.conversions
  from (select ${key} as id, count(*) as visitors,
               count(*) filter (where conversion_state in ('lead', 'conversion')) as leads,
               count(*) filter (where conversion_state = 'conversion') as conversions
          from ${s}.referrals where ${key} is not null group by ${key}) c
 where t.id = c.id;`;
  const days = Object.entries(LISTS).map(
    ([list, state]) => `
insert into ${s}.list_days (list, day, state, records)
select '${list}', ${dayOf('created_at')}, ${state}, count(*) from ${s}.${list} group by 2, 3;`,
  );
  return recount('affiliates', 'affiliate_id') + recount('links', 'link_id') + days.join('');
}

/**
 * The triggers count with every statement that changes a list. Each writer locks the row of sandbox_program first, so
 * that two writers cannot deadlock on the counts.
 */
export function createTriggersSql(s: string): string {
  return EVERY_TRIGGER.map(({ list, change, name }) => {
    const [event, tables, moved] = CHANGES[change];
    const from = (columns: string) =>
      moved
        .map((table) => `select ${columns}, ${table === 'added' ? 1 : -1} as sign from ${table}`)
        .join(' union all ');
    const counters =
      list !== 'referrals'
        ? ''
        : moveCountersSql(s, 'affiliates', 'affiliate_id', from('affiliate_id, conversion_state')) +
          moveCountersSql(s, 'links', 'link_id', from('link_id, conversion_state'));
    return `
create function ${s}.${name}() returns trigger language plpgsql as $$
begin
  insert into ${s}.list_days as d (list, day, state, records)
  select '${list}', ${dayOf('created_at')}, state, sum(sign)
    from (${from(`created_at, ${LISTS[list]} as state`)}) moved
   group by 2, 3 having sum(sign) <> 0
  on conflict (list, day, state) do update set records = d.records + excluded.records;${counters}
  return null;
end $$;
create trigger ${name} after ${event} on ${s}.${list}
  referencing ${tables} for each statement execute function ${s}.${name}();`;
  }).join('');
}

function moveCountersSql(s: string, table: string, key: string, moved: string): string {
  return `
  update ${s}.${table} t
     set visitors = t.visitors + d.visitors, leads = t.leads + d.leads, conversions = t.conversions + d.conversions
    from (select ${key} as id, sum(sign) as visitors,
                 coalesce(sum(sign) filter (where conversion_state in ('lead', 'conversion')), 0) as leads,
                 coalesce(sum(sign) filter (where conversion_state = 'conversion'), 0) as conversions
            from (${moved}) moved where ${key} is not null group by ${key}) d
   where t.id = d.id and (d.visitors, d.leads, d.conversions) is distinct from (0, 0, 0);`;
}
