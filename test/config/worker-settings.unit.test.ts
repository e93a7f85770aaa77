// The settings of a worker: what is refused, and in which words.

import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { checkSchedules } from '../../src/worker/queue/schedules.ts';
import { makeSchedules } from '../../src/worker/sources/sync-job.ts';

test('without a setting, a full sync is due every night and a delta every quarter of an hour, in UTC', () => {
  const { process, program } = readConfig({});
  expect(program.schedules).toEqual({ full: '0 2 * * *', delta: '*/15 * * * *', timezone: 'UTC' });
  expect(process.redisUrl).toBe(null);
  expect(process.status).toEqual({
    host: '127.0.0.1',
    port: 8080,
    basePath: '',
    password: null,
    piiPassword: null,
    metrics: 'guarded',
  });
});

test.each([
  [{}, 'UTC'],
  [{ SYNC_TIMEZONE: 'Asia/Tokyo' }, 'Asia/Tokyo'],
  [{ SYNC_TIMEZONE: 'Asia/Tokyo', DISPLAY_TIMEZONE: 'Europe/Berlin' }, 'Europe/Berlin'],
])('%j shows times in %s', (environment, zone) => {
  expect(readConfig(environment).process.displayZone).toBe(zone);
});

test('an empty schedule is none', () => {
  const { schedules } = readConfig({ SYNC_FULL_CRON: '', SYNC_DELTA_CRON: ' ' }).program;
  expect(makeSchedules(schedules)).toEqual([]);
});

test.each(['*/2 * * * * *', '0,30 8-18/2 1 JAN-jun *', '5/10 * * * 7', '0 2 L * *', '0 2 * * 1#2'])(
  'the schedule %s is fine',
  (pattern) => {
    const { schedules } = readConfig({ SYNC_FULL_CRON: pattern }).program;
    expect(() => checkSchedules(makeSchedules(schedules))).not.toThrow();
  },
);

test.each([
  [{}, { campaigns: 'auto', commissions: 'auto', payouts: 'auto' }],
  [{ OPTIONAL_LISTS: 'none' }, { campaigns: 'off', commissions: 'off', payouts: 'off' }],
  [{ OPTIONAL_LISTS: 'campaigns' }, { campaigns: 'on', commissions: 'off', payouts: 'off' }],
  [{ OPTIONAL_LISTS: 'commissions, campaigns' }, { campaigns: 'on', commissions: 'on', payouts: 'off' }],
])('%j says of each list whether the program has it', (environment, settings) => {
  expect(readConfig(environment).program.optionalLists).toEqual(settings);
});

test.each([
  'daily',
  '61 * * * *',
  'H 2 * * *',
  '0 1-2-3 * * *',
  '0 2 1,?-5 * *',
  '0 2 * * mon,',
  '*/0 * * * *',
  '0 0 31 2 *',
])('the schedule %s is refused', (pattern) => {
  expect(() => readConfig({ SYNC_FULL_CRON: pattern })).toThrow(
    'SYNC_FULL_CRON must be due at some time, and have five fields',
  );
});

test.each([
  [{ OPTIONAL_LISTS: 'on' }, 'OPTIONAL_LISTS must be auto, none, or some of campaigns, commissions, payouts'],
  [{ SYNC_TIMEZONE: 'Mars/Olympus' }, 'SYNC_TIMEZONE must be the name of a time zone'],
  [{ DISPLAY_TIMEZONE: '+01:00' }, 'DISPLAY_TIMEZONE must be the name of a time zone'],
  [{ EXPORT_CRON: '0 3 * * *' }, 'EXPORT_TARGET is not set, which EXPORT_CRON needs'],
  [{ EXPORT_CRON: '0 3 * * *', EXPORT_TARGET: 'x' }, 'there is nothing to export: name tables and views'],
  [
    { EXPORT_CRON: '0 3 * * *', EXPORT_TARGET: 's3://bucket', EXPORT_WHOLE: 'referrals' },
    'EXPORT_TARGET is a bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  ],
  [
    { EXPORT_CRON: '0 3 * * *', EXPORT_TARGET: '-', EXPORT_WHOLE: 'referrals' },
    'EXPORT_TARGET must be a directory or s3://bucket/prefix',
  ],
  [
    { EXPORT_TARGET: 'gs://bucket/x' },
    'EXPORT_TARGET begins with gs://, where exports cannot go: give a directory or s3://bucket/prefix',
  ],
  [
    { EXPORT_TARGET: 's3://BUCKET/x' },
    'EXPORT_TARGET must be s3://bucket/prefix, with 3 to 63 small letters, digits, dots and hyphens for the bucket, not s3://BUCKET/x',
  ],
  [{ EXPORT_TARGET: 's3://bucket/a/../b' }, 'EXPORT_TARGET must have no empty part, . or .. in its prefix'],
  [{ EXPORT_FORMAT: 'avro' }, 'EXPORT_FORMAT must be one of csv, ndjson, parquet, xlsx'],
  [
    { AWS_ACCESS_KEY_ID: 'x' },
    'AWS_SECRET_ACCESS_KEY is not set: the access key of the storage has two parts',
  ],
  [{ AWS_REGION: 'eu central' }, 'AWS_REGION must be a region, such as eu-central-1'],
  [{ AWS_ENDPOINT_URL: 'https://storage.example/bucket' }, 'AWS_ENDPOINT_URL must be an address such as'],
  [{ STATUS_PORT: '99999' }, 'STATUS_PORT must be a whole number from 0 to 65535'],
])('%j is refused: %s', (environment, problem) => {
  expect(() => readConfig(environment)).toThrow(problem);
});

test.each([
  ['0 0 31 2,4 *', 'UTC'],
  ['50-10 * * * *', 'UTC'],
])('the schedule %s, which is never due, is refused before anything starts', (pattern, timezone) => {
  const schedules = makeSchedules({ full: pattern, delta: null, timezone });
  expect(() => checkSchedules(schedules)).toThrow('the schedule sync-full ');
});

test('a pattern is checked by the very parser that BullMQ reads it with', () => {
  const ours = createRequire(import.meta.url);
  const bullmqs = createRequire(ours.resolve('bullmq'));
  expect(ours.resolve('cron-parser')).toBe(bullmqs.resolve('cron-parser'));
});

test('a bucket that is named with a key is refused, and the key is not repeated', () => {
  const read = () => readConfig({ EXPORT_TARGET: 's3://key:secret@bucket/x' });
  expect(read).toThrow('EXPORT_TARGET must be s3://bucket/prefix');
  expect(read).not.toThrow('secret');
});
