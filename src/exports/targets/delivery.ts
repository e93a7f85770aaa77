// One export on its way to its target. Nothing of it is seen as an export before `publish`, and of what was not
// published nothing is left after `discard`.

export interface OpenFile {
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

export interface Delivery {
  /** Of the export, or of its directory: what a person is shown. */
  readonly location: string;
  /** Starts a file; one after the other. The path is relative to the manifest. */
  openFile(path: string): Promise<OpenFile>;
  /** Makes the files visible, and the manifest last. Called once every file is closed. */
  publish(manifest: string): Promise<void>;
  /** Removes everything that was written and that `publish` has not made visible. */
  discard(): Promise<void>;
}

export const MANIFEST = 'manifest.json';
