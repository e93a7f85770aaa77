// One moment as the mirror keeps it.

/** A UTC instant as ISO 8601 text with microseconds, read from the clock of the mirror's database. */
export type Instant = string;
