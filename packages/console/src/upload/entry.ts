import type { CheckedFile } from './check-file.ts';
import type { Remembered } from './resume.ts';

/** A chosen file. It is changed in place while it is checked and uploaded. */
export type Entry = {
  readonly file: File;
  readonly isGzip: boolean;
  resumed: Remembered | undefined;
  step: 'waiting' | 'checking' | 'ready' | 'uploading' | 'uploaded' | 'failed';
  /** Bytes of the current step: checked or uploaded. */
  bytes: number;
  /** Undefined if the file was not checked, and null if it could not be read. */
  checked: CheckedFile | null | undefined;
  failure: string | null;
  uploaded: { readonly uploadId: string; readonly filePath: string } | null;
};
