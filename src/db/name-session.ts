// How another session of the database is named to a person: what it calls itself, its process and its role.

export interface OtherSession {
  readonly pid: number;
  /** What it calls itself. */
  readonly application: string;
  /** Null where we may not see it. */
  readonly role: string | null;
}

/** The columns of it, of pg_stat_activity as `activity`. */
export const SESSION_COLUMNS = `
  activity.pid, coalesce(nullif(activity.application_name, ''), activity.backend_type, 'a client') as application,
  activity.usename as role`;

/** Returns its name, such as `psql (pid 4711, role analyst)`. */
export function nameSession({ pid, application, role }: OtherSession): string {
  return role === null ? `${application} (pid ${pid})` : `${application} (pid ${pid}, role ${role})`;
}
