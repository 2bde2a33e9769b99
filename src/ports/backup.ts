import type { LoadId } from '../domain/ids.ts';
/** A moment at which both stores fit together. */
type Cut = {
  readonly takenAt: Date;
  /** Found good and not published yet: what these loads have staged belongs to the backup. */
  readonly stagedLoadIds: readonly LoadId[];
};

export interface ControlBackup {
  /**
   * From here on nothing begins that would change what is published, and what runs is waited for, for so long at the
   * most. Files go on being staged, and requests being accepted. Ends with `resume`, or with the process.
   */
  pause(patienceSeconds: number): Promise<Cut>;
  /** Lets everything begin again. Throws when something ended in between all the same. */
  resume(): Promise<void>;
  /** Writes the control plane as it was at the cut. */
  dump(file: string): Promise<void>;
  close(): Promise<void>;
}

export interface EngineBackup {
  /** Takes hold of the data plane as it is now, in moments: nothing is copied but names of files. */
  hold(stagedLoadIds: readonly LoadId[]): Promise<void>;
  /** Writes what is held to the place for backups, however long it takes. */
  save(name: string): Promise<void>;
  /** Lets go of what is held, also by a backup that was killed. */
  release(): Promise<void>;
}
