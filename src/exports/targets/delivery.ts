// The writing of one export to its target. It is visible as an export only after `publish`, and leaves nothing after
// `discard`.

export interface OpenFile {
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export interface Delivery {
  /** The export or its directory, for messages. */
  readonly location: string;
  /** Opens a file, once the last one is closed. The path is relative to the manifest. */
  openFile(path: string): Promise<OpenFile>;
  /** Makes the files visible, and the manifest last. Called once every file is closed. */
  publish(manifest: string): Promise<void>;
  /** Removes all written files, unless `publish` has made them visible. */
  discard(): Promise<void>;
}

export const MANIFEST = 'manifest.json';
