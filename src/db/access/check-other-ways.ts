// The last statement that `grants` prints. A role may have rights by another way: from PUBLIC, from a role that it
// belongs to, or by default privileges on the tables of later migrations. A role that may read a table sees personal
// data in the reports too. So these rights are checked in the transaction of the grants.

import { escapeLiteral } from 'pg';

export interface OtherWays {
  readonly role: string;
  /** The mirror's, and the queue's if the queue is in Postgres. */
  readonly schemas: readonly [string, ...string[]];
  /** The table of the mirror whose owner runs later migrations. */
  readonly notedIn: string;
  /**
   * A condition on schema, relation (null: a later one, or all), privilege_type and grantee; the role itself is
   * `asked.oid`.
   */
  readonly forbidden: string;
}

/** Returns a statement that lets the role connect, and fails with the way by which it has a forbidden right. */
export function checkOtherWays({ role, schemas, notedIn, forbidden }: OtherWays): string {
  const mirror = escapeLiteral(schemas[0]);
  return `-- If the role has more rights by another way, such as PUBLIC or a group, this names it, and nothing is granted.
do $check$
declare
  asked pg_roles;
  excess text;
begin
  select * into strict asked from pg_roles where rolname = ${escapeLiteral(role)};
  if not has_database_privilege(asked.oid, current_database(), 'connect') then
    execute format('grant connect on database %I to %I', current_database(), asked.rolname);
  end if;
  if not has_database_privilege(asked.oid, current_database(), 'connect') then
    raise exception '% may not connect to the database %', asked.rolname, current_database()
      using hint = 'Nothing was granted: have the owner of the database, or a superuser, run this.';
  end if;
  with relations as (
    select nspname as schema, pg_class.* from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname in (${schemas.map(escapeLiteral).join(', ')}) and relkind in ('r', 'p', 'v', 'm', 'f')
  ), rights (schema, relation, what, prefix, acl) as (
    select schema, relname, format('%I.%I', schema, relname), '', coalesce(relacl, acldefault('r', relowner)) from relations
    union all
    select schema, relname, format('%I.%I (%I)', schema, relname, attname), '', attacl
    from relations join pg_attribute on attrelid = relations.oid
    union all
    select ${mirror}, null, 'later tables', format('default privileges of %s for ', relowner::regrole), defaclacl
    from relations join pg_default_acl on defaclrole = relowner and defaclnamespace in (0, relnamespace)
    where schema = ${mirror} and relname = '${notedIn}' and defaclobjtype = 'r'
    union all
    select '', null, 'all tables', '', array[makeaclitem(oid, oid, privilege, false)]
    from pg_roles join (values ('pg_read_all_data', 'SELECT'), ('pg_write_all_data', 'UPDATE')) as predefined (name, privilege)
      on rolname = name
  ), held as (
    select what, privilege_type, case
        when asked.rolsuper then 'it is a superuser'
        when grantee = 0 then prefix || 'PUBLIC'
        when grantee = asked.oid then prefix || 'itself, granted by ' || grantor::regrole
        else prefix || 'the role ' || grantee::regrole
      end as way
    from rights, aclexplode(acl)
    where (grantee = 0 or pg_has_role(asked.oid, grantee, 'member')) and (${forbidden})
  ), lines as (
    select format('%s (%s on %s%s)', way, string_agg(distinct lower(privilege_type), ', '), min(what),
      ' and ' || nullif(count(distinct what) - 1, 0) || ' more') as line
    from held group by way
  )
  select string_agg(line, '; ') into excess from lines;
  if excess is not null then
    raise exception '% has more rights than these, by %', asked.rolname, excess
      using hint = 'Nothing was granted: take those rights back there, and run this again.';
  end if;
end
$check$;`;
}
