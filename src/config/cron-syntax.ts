// Checks the spelling of a cron pattern. BullMQ checks one only once there is a queue, and accepts five letters as a
// pattern of five fields; a wrong configuration should be refused before anything starts.

const MONTHS = 'JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC';
const WEEKDAYS = 'SUN|MON|TUE|WED|THU|FRI|SAT';

/** The fields from the right: the least and the greatest value of each, and its names. */
const FIELDS: readonly (readonly [name: string, from: number, to: number, names?: string])[] = [
  ['day of the week', 0, 7, WEEKDAYS],
  ['month', 1, 12, MONTHS],
  ['day of the month', 1, 31],
  ['hour', 0, 23],
  ['minute', 0, 59],
  ['second', 0, 59],
];

/** Returns what is wrong with the pattern, worded to follow its variable's name; null where nothing is. */
export function findCronProblem(pattern: string): string | null {
  const fields = pattern.trim().split(/\s+/).toReversed();
  if (fields.length < 5 || fields.length > 6) {
    return 'must have five fields (minute hour day month weekday), such as 0 2 * * *, or a second first';
  }
  for (const [index, field] of fields.entries()) {
    const [name, from, to, names] = FIELDS[index] ?? ['field', 0, 0];
    if (!field.split(',').every((part) => isPart(part, from, to, names))) {
      return `has a ${name} that cron does not know: ${field}`;
    }
  }
  return null;
}

function isPart(part: string, from: number, to: number, names = '(?!)'): boolean {
  const match = new RegExp(`^(?:\\*|(\\d+|${names})(?:-(\\d+|${names}))?)(?:/([1-9]\\d*))?$`, 'i').exec(part);
  if (match === null) return false;
  return match.slice(1, 3).every((value) => {
    const number = Number(value ?? from);
    return Number.isNaN(number) || (number >= from && number <= to);
  });
}
