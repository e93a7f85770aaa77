// `H` in a schedule of PROGRAMS_FILE: a second, minute or hour of the program's own, so that not all programs begin at
// once. Picked by a hash of the name, so that it is the same in every process.

import { createHash } from 'node:crypto';

const DAY_MONTH_WEEKDAY = 3;

/** Returns the schedule with a number in place of each H; any other H is left for the check of the schedule. */
export function withOwnMinute(pattern: string, name: string): string {
  const fields = pattern.trim().split(/\s+/);
  const hour = fields.length - DAY_MONTH_WEEKDAY - 1;
  return fields
    .map((field, index) => {
      if (field !== 'H' || index > hour) return field;
      return String(pick(`${name} ${hour - index}`, index === hour ? 24 : 60));
    })
    .join(' ');
}

function pick(seed: string, below: number): number {
  return createHash('sha256').update(seed).digest().readUInt32BE(0) % below;
}
