// How counts, durations and timestamps look to people: in the terminal, and on the pages of the status site.

import type { Timestamp } from './timestamp.ts';

/** Made when it is first needed: that takes 12 ms. */
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

/** Returns a timestamp in UTC to the second: `2026-01-02 03:04:05Z`. */
export function formatTimestamp(timestamp: Timestamp): string {
  return `${timestamp.slice(0, 19).replace('T', ' ')}Z`;
}
