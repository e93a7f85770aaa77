// The manifest of an export: what is in it, written last, so that whoever finds it finds a whole export.

import type { ExportFormat } from '../config/exports.ts';
import type { Timestamp } from '../contract/timestamp.ts';

export interface ManifestFile {
  /** Beside the manifest, with slashes. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** As docs/schemas/export.json describes it. */
export interface Manifest {
  readonly object: string;
  readonly kind: 'whole' | 'changes';
  readonly format: ExportFormat;
  readonly rows: number;
  /** What was committed by then is in it. Every row is of one moment, this one or a few milliseconds later. */
  readonly as_of: Timestamp;
  readonly since: Timestamp | null;
  readonly watermark: Timestamp | null;
  readonly where: string | null;
  readonly partitioned_by: string | null;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly files: readonly ManifestFile[];
  readonly version: string;
}

/** Returns the manifest as it is written. */
export function spellManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}
