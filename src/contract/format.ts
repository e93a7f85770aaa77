// Counts, sizes, durations and timestamps for people: in the terminal and on the status page.

import { displayZone, offsetMs } from './time-zone.ts';
import type { Timestamp } from './timestamp.ts';

/** Made at the first use: that takes 12 ms. */
let counts: Intl.NumberFormat | null = null;

/** Returns 5000 as `5,000`. */
export function formatCount(count: number | bigint): string {
  counts ??= new Intl.NumberFormat('en-US');
  return counts.format(count);
}

/** Returns `1 page`, `5,000 pages`. */
export function counted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Returns `1 page is`, `5,000 pages are`. */
export function countedAre(count: number, noun: string): string {
  return `${counted(count, noun)} ${count === 1 ? 'is' : 'are'}`;
}

const SIZES = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** Returns 123456789 bytes as `123 MB`, in powers of a thousand as disks are sold. */
export function formatBytes(bytes: number): string {
  let size = Math.abs(bytes);
  let unit = 0;
  while (size >= 999.5 && unit < SIZES.length - 1) {
    size /= 1000;
    unit += 1;
  }
  const digits = size < 9.95 && unit > 0 ? 1 : 0;
  return `${bytes < 0 ? '-' : ''}${size.toFixed(digits)} ${SIZES[unit]}`;
}

/** Returns a duration in its two largest units: `8 ms`, `0.4 s`, `12 s`, `3 min 20 s`, `5 h 2 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms >= 0.5 && ms < 95) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/**
 * Returns a timestamp to the second, in the display zone: `2026-11-27 00:00 +01:00`, with seconds if it has any. If the
 * zone is UTC: `2026-01-02 03:04:05Z`, which ends as `utc` says.
 */
export function formatTimestamp(timestamp: Timestamp, utc = 'Z'): string {
  if (displayZone() === 'UTC') return `${timestamp.slice(0, 19).replace('T', ' ')}${utc}`;
  const { day, time, offset } = inDisplayZone(timestamp);
  return `${day} ${time.replace(/:00$/, '')} ${offset}`;
}

/** Returns the day of a timestamp in the display zone: `2026-11-27`. */
export function formatDay(timestamp: Timestamp): string {
  return inDisplayZone(timestamp).day;
}

/** As sentences, outcomes and the payment ledger have them. */
const UTC_TIME = /\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)?(?:Z| UTC)/g;

/** Returns the text with each timestamp in the display zone, to its last digit; as it is if the zone is UTC. */
export function withLocalTimes(text: string): string {
  if (displayZone() === 'UTC') return text;
  return text.replace(UTC_TIME, (found, day: string, time: string, fraction: string = '') => {
    const timestamp = `${day}T${time}Z`;
    // The API's words for a refusal may quote what is no time.
    if (Number.isNaN(Date.parse(timestamp))) return found;
    const local = inDisplayZone(timestamp);
    const shown = fraction === '' ? local.time.replace(/:00$/, '') : `${local.time}${fraction}`;
    return `${local.day} ${shown} ${local.offset}`;
  });
}

function inDisplayZone(timestamp: Timestamp): { day: string; time: string; offset: string } {
  const ms = Math.floor(Date.parse(timestamp) / 1000) * 1000;
  const aheadMs = offsetMs(displayZone(), ms);
  const [day = '', time = ''] = new Date(ms + aheadMs).toISOString().split('T');
  const ahead = new Date(Math.abs(aheadMs)).toISOString();
  // Offsets of the 19th century have seconds.
  const offset = ahead.slice(11, 19).replace(/:00$/, '');
  return { day, time: time.slice(0, 8), offset: `${aheadMs < 0 ? '-' : '+'}${offset}` };
}
