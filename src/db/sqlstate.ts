// The names of those SQLSTATEs that more than one file waits for. Source: PostgreSQL manual, appendix A.

/** A key is there already. */
export const UNIQUE_VIOLATION = '23505';
/** A lock was not had within lock_timeout. */
export const LOCK_NOT_AVAILABLE = '55P03';
