// Moments as text, compared without losing a digit. Pure.

/** How the program's moment relates to the one that was asked for. `cut`: the same, with its end cut off. */
export type Match = 'same' | 'cut' | 'different';

const MICROS_PER_SECOND = 1_000_000n;
const MICROS_PER_MILLI = 1000n;

/**
 * Gives back microseconds since 1970; digits beyond are cut.
 *
 * Throws: TypeError on what is no ISO 8601 moment.
 */
export function toMicros(instant: string): bigint {
  const ms = Date.parse(instant);
  if (Number.isNaN(ms)) throw new TypeError(`${instant} is no instant`);
  const fraction = /\.(\d+)/.exec(instant)?.[1] ?? '';
  const wholeSeconds = BigInt(Math.floor(ms / 1000)) * MICROS_PER_SECOND;
  return wholeSeconds + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

/**
 * Gives back whether the program holds the moment that was asked for. Cut to the second or the millisecond it still
 * does. Source: seen in the wild (addendum: compare instants, tolerate a truncation to the second).
 */
export function matchInstant(asked: string, held: string | null): Match {
  if (held === null) return 'different';
  const wanted = toMicros(asked);
  const found = toMicros(held);
  if (wanted === found) return 'same';
  return found === floorTo(wanted, MICROS_PER_SECOND) || found === floorTo(wanted, MICROS_PER_MILLI)
    ? 'cut'
    : 'different';
}

/** Gives back the moment in UTC, with as many digits behind the second as it has: none, three or six. */
export function spellInstant(instant: string): string {
  const micros = toMicros(instant);
  const fraction = micros - floorTo(micros, MICROS_PER_SECOND);
  const seconds = new Date(Number((micros - fraction) / MICROS_PER_MILLI)).toISOString().slice(0, 19);
  if (fraction === 0n) return `${seconds}Z`;
  const digits = fraction.toString().padStart(6, '0');
  return `${seconds}.${digits.endsWith('000') ? digits.slice(0, 3) : digits}Z`;
}

function floorTo(micros: bigint, unit: bigint): bigint {
  const rest = micros % unit;
  return micros - (rest < 0n ? rest + unit : rest);
}
