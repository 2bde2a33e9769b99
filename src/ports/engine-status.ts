/** The state of one ClickHouse server. */
export type ReplicaState = {
  /** The positions of its URL in the configuration, starting at 1. */
  readonly shard: number;
  readonly replica: number;
  /** Without user and password. */
  readonly url: string;
  /** Null if the server did not answer in time. */
  readonly state: ServerState | null;
  /** Why the state, or a part of it, is unknown. */
  readonly problem: string | null;
};

export type ServerState = {
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly parts: { readonly active: number; readonly rows: number; readonly bytes: number };
  readonly mutations: {
    readonly unfinished: number;
    readonly oldestSeconds: number | null;
    /** The reason for the most recent failure of an unfinished mutation. */
    readonly failure: string | null;
  };
  readonly disks: readonly { readonly name: string; readonly freeBytes: number; readonly totalBytes: number }[];
  /** Null if the shard has only one server. */
  readonly replication: ReplicationState | null;
};

export type ReplicationState = {
  readonly isReadOnly: boolean;
  /** Whether the session with ClickHouse Keeper or ZooKeeper has expired. */
  readonly isSessionExpired: boolean;
  readonly delaySeconds: number;
  readonly queuedTasks: number;
};

export interface EngineStatus {
  /** One entry per configured server, in order. Resolves within two seconds, even if servers do not respond. */
  read(): Promise<readonly ReplicaState[]>;
}
