// The target of an export, from `-o` or EXPORT_TARGET.

import { stat } from 'node:fs/promises';
import { extname, join, resolve, sep } from 'node:path';
import { ConfigError } from '../../base/errors.ts';
import { findTargetProblem, namesBucket, splitBucket } from '../../config/process/export-target.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../config/process/exports.ts';
import type { S3Access } from '../../config/process/s3-access.ts';
import type { Delivery } from './delivery.ts';
import { deliverFile, deliverIntoDirectory, deliverToStream } from './local.ts';
import { deliverToS3, type S3Place } from './s3.ts';

export type Target =
  | { readonly kind: 'stdout' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'directory'; readonly path: string }
  | ({ readonly kind: 's3'; readonly access: S3Access } & S3Place);

/** A target for several exports. */
export type CollectingTarget = Extract<Target, { kind: 'directory' | 's3' }>;

const KINDS = 'a file, a directory, s3://bucket/prefix, or - for stdout';

/**
 * Returns the target: `-` is stdout, `s3://bucket/prefix` a bucket, a path that ends in a slash or exists as a
 * directory is a directory, every other path a file.
 *
 * Throws: ConfigError if it is empty or another kind of address, its bucket or prefix is not valid, or there is no
 * access key for it.
 */
export async function parseTarget(words: string, access: S3Access | null): Promise<Target> {
  const problem = findTargetProblem(words, KINDS);
  if (problem !== null) throw new ConfigError([`-o ${problem}`]);
  if (words === '-') return { kind: 'stdout' };
  if (namesBucket(words)) return parseS3(words, access);
  const isDirectory = /[/\\]$/.test(words) || (await stat(words).catch(() => null))?.isDirectory() === true;
  return { kind: isDirectory ? 'directory' : 'file', path: resolve(words) };
}

/**
 * Returns the target of EXPORT_TARGET, which the configuration has checked: a directory or a bucket.
 *
 * Throws: ConfigError if there is no access key for the bucket.
 */
export function parseCollectingTarget(words: string, access: S3Access | null): CollectingTarget {
  if (namesBucket(words)) return parseS3(words, access);
  return { kind: 'directory', path: resolve(words) };
}

function parseS3(words: string, access: S3Access | null): CollectingTarget {
  if (access === null) {
    throw new ConfigError([
      `${words} needs an access key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_ENDPOINT_URL where it is not Amazon's`,
    ]);
  }
  return { kind: 's3', access, ...splitBucket(words) };
}

export function isCollecting(target: Target): target is CollectingTarget {
  return target.kind === 'directory' || target.kind === 's3';
}

/** Returns a unique name without secrets. */
export function nameTarget(target: CollectingTarget): string {
  if (target.kind === 'directory') return join(target.path, sep);
  return `s3://${target.bucket}/${target.prefix} at ${target.access.endpoint}`;
}

/** Returns the format of the file name's extension; null if it has none. */
export function formatOfTarget(target: Target): ExportFormat | null {
  if (target.kind !== 'file') return null;
  return EXPORT_FORMATS.find((format) => extname(target.path).toLowerCase() === `.${format}`) ?? null;
}

export interface DeliveryOptions {
  /** The directory of the export in a target for several, with slashes. */
  readonly name: string;
  readonly contentType: string;
  readonly signal: AbortSignal;
}

/** Throws: ConfigError if a file cannot be written there. */
export async function startDelivery(target: Target, options: DeliveryOptions): Promise<Delivery> {
  if (target.kind === 'stdout') return deliverToStream(process.stdout, options.signal);
  if (target.kind === 'file') return deliverFile(target.path);
  if (target.kind === 'directory') return deliverIntoDirectory(target.path, options.name);
  return deliverToS3(target.access, target, options);
}
