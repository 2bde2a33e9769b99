import type { LoadId } from '../domain/ids.ts';
/** A moment at which both stores are consistent with each other. */
type Cut = {
  readonly takenAt: Date;
  /** Validated but unpublished loads. Their staged rows are part of the backup. */
  readonly stagedLoadIds: readonly LoadId[];
};

export interface ControlBackup {
  /**
   * Stops new publishing work and waits for running lane steps, up to the timeout. Inlet still accepts requests and
   * stages files. The pause ends with `resume` or when the process exits.
   */
  pause(timeoutSeconds: number): Promise<Cut>;
  /** Resumes publishing. Throws if a job ended during the pause. */
  resume(): Promise<void>;
  /** Writes the state of the control plane at the cut to a file. */
  dump(file: string): Promise<void>;
  close(): Promise<void>;
}

export interface EngineBackup {
  /** Freezes the data plane in its current state. This is fast, because only file names are copied. */
  hold(stagedLoadIds: readonly LoadId[]): Promise<void>;
  /** Writes the frozen data to the backup destination. Returns its size in bytes. */
  save(name: string): Promise<number>;
  /** Releases the frozen data, including data left by a backup that was killed. */
  release(): Promise<void>;
}

/** A finished attempt to back up the installation. */
export type BackupRecord = {
  readonly id: number;
  readonly startedAt: Date;
  readonly finishedAt: Date;
  /** The point in time whose state a restore brings back. Null if the backup failed. */
  readonly takenAt: Date | null;
  /** Null if the backup failed. */
  readonly bytes: number | null;
  /** Folder of the dump and name of the disk in ClickHouse. */
  readonly destination: string;
  /** Null if the backup is complete. */
  readonly failure: string | null;
};

export interface BackupHistory {
  /** Keeps the newest records and the newest complete backup. */
  record(backup: Omit<BackupRecord, 'id' | 'finishedAt'>): Promise<void>;
  /** Newest first. */
  list(limit: number): Promise<readonly BackupRecord[]>;
  findNewestComplete(): Promise<BackupRecord | null>;
}
