// The scheduled exports of a worker.

import { z } from 'zod';
import { cron, names, optional, type Values, variable } from '../variable.ts';
import { findTargetProblem, namesBucket } from './export-target.ts';
import type { S3Access } from './s3-access.ts';

/** In the order of help and documentation. */
export const EXPORT_FORMATS = ['csv', 'ndjson', 'parquet', 'xlsx'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export interface ScheduledExports {
  readonly pattern: string;
  readonly timezone: string;
  /** A directory, or s3://bucket/prefix. */
  readonly target: string;
  readonly format: ExportFormat;
  /** Tables and views that are exported with every row. */
  readonly whole: readonly string[];
  /** Tables whose changes are exported. */
  readonly changes: readonly string[];
}

const KINDS = 'a directory or s3://bucket/prefix';

/** Returns the exports; null without a schedule. Problems are added to `problems`. */
export function readScheduledExports(
  variables: Values<typeof EXPORT_VARIABLES> & { readonly SYNC_TIMEZONE: string },
  access: S3Access | null,
  problems: string[],
): ScheduledExports | null {
  const {
    EXPORT_CRON: pattern,
    EXPORT_TARGET: target,
    EXPORT_WHOLE: whole = [],
    EXPORT_CHANGES: changes = [],
  } = variables;
  const targetProblem = target === undefined ? null : findTargetProblem(target, KINDS);
  if (targetProblem !== null) problems.push(`EXPORT_TARGET ${targetProblem}`);
  if (pattern === null) return null;
  if (target === undefined) {
    problems.push(`EXPORT_TARGET is not set, which EXPORT_CRON needs: give ${KINDS}`);
    return null;
  }
  if (target === '-') problems.push(`EXPORT_TARGET must be ${KINDS}`);
  if (namesBucket(target) && access === null) {
    problems.push('EXPORT_TARGET is a bucket: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  }
  if (whole.length === 0 && changes.length === 0) {
    problems.push(
      'EXPORT_CRON is set, and there is nothing to export: name tables and views in EXPORT_WHOLE or EXPORT_CHANGES',
    );
  }
  return {
    pattern,
    timezone: variables.SYNC_TIMEZONE,
    target,
    format: variables.EXPORT_FORMAT,
    whole,
    changes,
  };
}

/** The variables of this part, as variables.ts lists them. */
export const EXPORT_VARIABLES = {
  EXPORT_CRON: variable(
    'when a worker exports what the next variables name, in cron syntax; empty for never',
    cron,
    '',
  ),
  EXPORT_TARGET: optional('where to: a directory, or `s3://bucket/prefix`', z.string()),
  EXPORT_FORMAT: variable(
    EXPORT_FORMATS.map((format) => `\`${format}\``).join(', '),
    z.enum(EXPORT_FORMATS, `must be one of ${EXPORT_FORMATS.join(', ')}`),
    'parquet',
  ),
  EXPORT_WHOLE: optional('tables and views to export whole each time, with commas between them', names),
  EXPORT_CHANGES: optional('tables to export the changes of since the last time', names),
};
