import type { LoadId } from '../domain/ids.ts';
/** A moment at which both stores are consistent with each other. */
type Cut = {
  readonly takenAt: Date;
  /** Validated but unpublished loads. Their staged rows belong to the backup. */
  readonly stagedLoadIds: readonly LoadId[];
};

export interface ControlBackup {
  /**
   * Stops new publishing work and waits for running lane steps, up to the timeout. Staging and accepting requests
   * continue. Ends with `resume` or with the process.
   */
  pause(patienceSeconds: number): Promise<Cut>;
  /** Resumes publishing. Throws if a job ended in spite of the pause. */
  resume(): Promise<void>;
  /** Writes the control plane as it was at the cut. */
  dump(file: string): Promise<void>;
  close(): Promise<void>;
}

export interface EngineBackup {
  /** Freezes the data plane in its current state. This takes only moments, because only file names are copied. */
  hold(stagedLoadIds: readonly LoadId[]): Promise<void>;
  /** Writes the frozen data to the backup destination. */
  save(name: string): Promise<void>;
  /** Releases the frozen data, including the frozen data of a backup that was killed. */
  release(): Promise<void>;
}
