// Where an export goes, from the words of `-o` or EXPORT_TARGET.

import { stat } from 'node:fs/promises';
import { extname, join, resolve, sep } from 'node:path';
import { findTargetProblem, namesBucket, splitBucket } from '../../config/export-target.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../../config/exports.ts';
import type { S3Access } from '../../config/s3-access.ts';
import { ConfigError } from '../../errors.ts';
import type { Delivery } from './delivery.ts';
import { deliverFile, deliverIntoDirectory, deliverToStream } from './local.ts';
import { deliverToS3, type S3Place } from './s3.ts';

export type Target =
  | { readonly kind: 'stdout' }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'directory'; readonly path: string }
  | ({ readonly kind: 's3'; readonly access: S3Access } & S3Place);

/** A target that holds one export beside the other. */
export type CollectingTarget = Extract<Target, { kind: 'directory' | 's3' }>;

const KINDS = 'a file, a directory, s3://bucket/prefix, or - for stdout';

/**
 * Returns the target: `-` is stdout, `s3://bucket/prefix` a bucket, a path that ends in a slash or is a directory that
 * one, every other path a file.
 *
 * Throws: ConfigError where it is empty or an address of another kind, there is no bucket in it, its prefix cannot be
 * one, or there is no access key for it.
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
 * Returns the same of EXPORT_TARGET, which the configuration has checked: a directory or a bucket.
 *
 * Throws: ConfigError where there is no access key for the bucket.
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

/** Returns whether the target holds one export beside the other. */
export function isCollecting(target: Target): target is CollectingTarget {
  return target.kind === 'directory' || target.kind === 's3';
}

/** Returns the name that tells the target from every other. Holds no secret. */
export function nameTarget(target: CollectingTarget): string {
  if (target.kind === 'directory') return join(target.path, sep);
  return `s3://${target.bucket}/${target.prefix} at ${target.access.endpoint}`;
}

/** Returns the format that the end of the file's name says; null where it says none. */
export function formatOfTarget(target: Target): ExportFormat | null {
  if (target.kind !== 'file') return null;
  return EXPORT_FORMATS.find((format) => extname(target.path).toLowerCase() === `.${format}`) ?? null;
}

export interface DeliveryOptions {
  /** Of the export in a target that holds several: its directory, with slashes. */
  readonly name: string;
  readonly contentType: string;
  readonly signal: AbortSignal;
}

/** Returns the delivery of one export. Throws: ConfigError where a file cannot be written there. */
export async function startDelivery(target: Target, options: DeliveryOptions): Promise<Delivery> {
  if (target.kind === 'stdout') return deliverToStream(process.stdout, options.signal);
  if (target.kind === 'file') return deliverFile(target.path);
  if (target.kind === 'directory') return deliverIntoDirectory(target.path, options.name);
  return deliverToS3(target.access, target, options);
}
