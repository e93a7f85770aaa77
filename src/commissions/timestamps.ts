// Compares and spells timestamps without losing a digit. Pure.

/** How the program's timestamp relates to the one that was asked for. `cut`: the same, with its end cut off. */
export type Match = 'same' | 'cut' | 'different';

const MICROS_PER_SECOND = 1_000_000n;
const MICROS_PER_MILLI = 1000n;

/**
 * Returns microseconds since 1970; further digits are cut.
 *
 * Throws: TypeError on text that is not a timestamp.
 */
export function toMicros(timestamp: string): bigint {
  const ms = Date.parse(timestamp);
  if (Number.isNaN(ms)) throw new TypeError(`${timestamp} is not a timestamp`);
  const fraction = /\.(\d+)/.exec(timestamp)?.[1] ?? '';
  const wholeSeconds = BigInt(Math.floor(ms / 1000)) * MICROS_PER_SECOND;
  return wholeSeconds + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

/**
 * Returns whether the program has the timestamp that was asked for. Cut to the second or the millisecond it still
 * has it. Source: seen in the wild (addendum: compare instants, tolerate a truncation to the second).
 */
export function matchTimestamp(asked: string, held: string | null): Match {
  if (held === null) return 'different';
  const wanted = toMicros(asked);
  const found = toMicros(held);
  if (wanted === found) return 'same';
  return found === floorTo(wanted, MICROS_PER_SECOND) || found === floorTo(wanted, MICROS_PER_MILLI)
    ? 'cut'
    : 'different';
}

/** Returns the timestamp in UTC, with as many digits after the second as it has: none, three or six. */
export function spellTimestamp(timestamp: string): string {
  const micros = toMicros(timestamp);
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
