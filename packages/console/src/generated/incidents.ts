// Generated from docs/operators/incidents.md by "npm run generate". Do not edit.

export type Incident = {
  readonly alerts: readonly string[];
  /** The codes and dependencies of the failures of lanes that the incident explains. */
  readonly failures: readonly string[];
  /** The faults of replicas that the incident explains. */
  readonly faults: readonly string[];
  readonly symptom: string;
  readonly check: string;
  readonly action: string;
};

/** The sections of the page. The texts are plain except for code in backticks. */
export const incidentSections: readonly {
  readonly id: string;
  readonly title: string;
  readonly incidents: readonly Incident[];
}[] = [
  {
    "id": "nothing-is-loaded",
    "title": "Nothing is loaded",
    "incidents": [
      {
        "alerts": [
          "InletNoWorkers"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletNoWorkers`; doctor: no worker is connected",
        "check": "are worker processes running? What do their logs say?",
        "action": "start a worker. If workers are running but not connected, doctor shows whether PostgreSQL is reachable"
      },
      {
        "alerts": [
          "InletServerAway"
        ],
        "failures": [
          "unavailable"
        ],
        "faults": [],
        "symptom": "alert `InletServerAway`; `inlet lanes` shows `unavailable`; the log reports that a dependency is down",
        "check": "`inlet doctor` names the server",
        "action": "restore that server. Work resumes within seconds"
      },
      {
        "alerts": [
          "InletTopologyMismatch"
        ],
        "failures": [
          "topology_mismatch"
        ],
        "faults": [],
        "symptom": "alert `InletTopologyMismatch`; `inlet lanes` shows `topology_mismatch`",
        "check": "`inlet topology` prints every difference between the record, the configuration, and ClickHouse",
        "action": "fix the setting or the cluster definition that differs. Work resumes within `INLET_TOPOLOGY_SECONDS`"
      },
      {
        "alerts": [],
        "failures": [
          "aws_credentials"
        ],
        "faults": [],
        "symptom": "`inlet lanes` shows `aws_credentials`",
        "check": "does `inlet doctor` name the identity of the process?",
        "action": "give the process its AWS identity again: see AWS (docs/operators/aws.md). If AWS itself does not respond, wait"
      },
      {
        "alerts": [
          "InletLaneWithoutToken"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletLaneWithoutToken`; `inlet lanes` shows `without a token`",
        "check": "do the worker logs show a task that fails repeatedly?",
        "action": "normally, token recovery in the workers fixes this within 10 seconds. If it does not, restart the workers and keep their logs"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "everything pauses briefly",
        "check": "is `inlet backup` running? It prints the length of the pause",
        "action": "wait. The backup pauses publishing until running steps complete, for no longer than `--patience`. If the command dies, the pause ends"
      }
    ]
  },
  {
    "id": "one-partner-waits",
    "title": "One partner waits",
    "incidents": [
      {
        "alerts": [
          "InletJobsWaitLong"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletJobsWaitLong`; a record stays at status 0",
        "check": "`inlet lanes`: is the job behind many jobs of the same partner?",
        "action": "if so, wait, because a partner's jobs run in submission order. If many partners are waiting, start more workers"
      },
      {
        "alerts": [
          "InletLaneStandsStill"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletLaneStandsStill`; a job has made no progress for an hour",
        "check": "`inlet jobs show <id>`: does the job have one very large file, a long delete, or many attempts?",
        "action": "if the job has a large file or a long delete, wait. If it has many attempts, find the error in the log. To unblock the lane, run `inlet jobs cancel <id>`, which ends the job with status 3"
      },
      {
        "alerts": [],
        "failures": [
          "partner_storage"
        ],
        "faults": [],
        "symptom": "`inlet lanes` shows `partner_storage`",
        "check": "the job imports from the partner's own bucket. The `err` field in the worker logs names the error",
        "action": "ask the partner to make its storage available. Inlet retries for about a day. To unblock the lane, run `inlet jobs cancel <id>`. With `storage_address_refused`, the address is private: if this is intended, add its network to `INLET_PARTNER_S3_NETWORKS`"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "429 `too_many_open_jobs`",
        "check": "`inlet jobs list --partner <name>`",
        "action": "if the partner submits each file separately, suggest importing a prefix as one job. Otherwise, raise `INLET_MAX_OPEN_JOBS`"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "422 `quota_exceeded`",
        "check": "`GET /v1/limits` with the partner's key shows every quota and its usage",
        "action": "ask the partner to delete data or clear audiences. Otherwise, raise the quota (`INLET_MAX_STORED_ROWS` and others)"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "429 `too_many_requests` for one partner",
        "check": "panel \"Requests\"",
        "action": "if the partner is polling, send them Follow an import (docs/partners/follow-an-import.md). Otherwise, raise `INLET_REQUESTS_PER_KEY`"
      }
    ]
  },
  {
    "id": "jobs-fail",
    "title": "Jobs fail",
    "incidents": [
      {
        "alerts": [
          "InletFilesGivenUp"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletFilesGivenUp`; a record has `load_abandoned`",
        "check": "`inlet jobs list --status failed`, `inlet jobs show <id>`, and the `err` field of failed attempts in the log",
        "action": "fix the problem that `err` describes, then run `inlet jobs retry <id>`, which queues the same request at the end of the lane. Some jobs cannot be retried: deletes, imports from a partner-owned bucket, and jobs for an audience that was cleared in the meantime. The partner must submit these jobs again"
      },
      {
        "alerts": [
          "InletAttemptsFail"
        ],
        "failures": [
          "internal"
        ],
        "faults": [],
        "symptom": "alert `InletAttemptsFail`; `inlet lanes` shows `internal`",
        "check": "failed attempts in the log",
        "action": "find the error and fix its cause. No dependency is down, so the cause is a bug or a ClickHouse limit (memory, disk). Inlet makes seven attempts in two minutes"
      },
      {
        "alerts": [
          "InletWorkersDie"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletWorkersDie`",
        "check": "how did the process end? Did it run out of memory, or was the machine drained?",
        "action": "give the worker more memory, or let it load fewer files at a time (`INLET_WORKER_FILES`). Other workers take over in the meantime"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "a partner asks why rows are missing",
        "check": "the rejected rows of the import (`GET …/errors`), together with the partner",
        "action": "Errors (docs/errors.md) and file formats (docs/partners/file-formats.md) explain each reason"
      }
    ]
  },
  {
    "id": "the-api-fails",
    "title": "The API fails",
    "incidents": [
      {
        "alerts": [
          "InletApiFails"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletApiFails`; 503 `unavailable`",
        "check": "`inlet doctor`; the API's log, by request ID",
        "action": "PostgreSQL is down or has no free connections. Its connection limit must be at least `INLET_POSTGRES_CONNECTIONS` times the number of processes"
      },
      {
        "alerts": [
          "InletApiSlow"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletApiSlow`",
        "check": "panels \"Requests\" and \"PostgreSQL\"",
        "action": "find the slow operation, then its statement in PostgreSQL"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "503 `issuer_away`",
        "check": "doctor: the issuer of user tokens",
        "action": "fix the issuer or the network connection to it: see user tokens (docs/user-tokens.md)"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "401 for a partner whose key worked before",
        "check": "`inlet key list --partner <name>`, `inlet audit-log --partner <name>`",
        "action": "if the key is expired or revoked, run `inlet key create`. To find the owner of a leaked key, run `inlet key identify`"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "429 for invalid keys from one address, for many partners",
        "check": "is there a proxy that is not in `INLET_TRUSTED_PROXIES`?",
        "action": "add the proxy to that setting: see in front of the API (docs/deploy.md#in-front-of-the-api)"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "the API does not start",
        "check": "the last log line names the setting or the role",
        "action": "see Configuration (docs/configuration.md) and the API role (docs/deploy.md#the-api-role)"
      }
    ]
  },
  {
    "id": "the-stores",
    "title": "The stores",
    "incidents": [
      {
        "alerts": [
          "InletDiskLow"
        ],
        "failures": [],
        "faults": [
          "Disk full"
        ],
        "symptom": "doctor: a shard's disk is full; console: `InletDiskLow`; the engine page shows `Disk full`",
        "check": "which table is growing? See `system.parts`",
        "action": "free space or add a disk. Loads wait in the meantime"
      },
      {
        "alerts": [
          "InletReplicaReadOnly",
          "InletReplicaBehind"
        ],
        "failures": [
          "replicas_behind"
        ],
        "faults": [
          "Read-only",
          "Session expired",
          "Behind"
        ],
        "symptom": "doctor: \"Replication\", `inlet lanes` shows `replicas_behind`, alert `InletReplicaReadOnly` or `InletReplicaBehind`; the engine page shows `Read-only`, `Session expired`, or `Behind`",
        "check": "which replica? `system.replicas`, `system.replication_queue`",
        "action": "restart the replica or Keeper, or replace the replica (docs/operators/install.md#replicas)"
      },
      {
        "alerts": [],
        "failures": [
          "merges_behind"
        ],
        "faults": [],
        "symptom": "`inlet lanes` shows `merges_behind`",
        "check": "`system.merges`, and the number of parts in `system.parts`",
        "action": "wait. Publishing continues when ClickHouse has merged the parts. If their number does not fall, find the cause in ClickHouse, such as a full disk"
      },
      {
        "alerts": [
          "InletReplicaUnreachable"
        ],
        "failures": [],
        "faults": [
          "Unreachable"
        ],
        "symptom": "console: `InletReplicaUnreachable`; the engine page shows `Unreachable`",
        "check": "is the server running? Can the API reach the URL?",
        "action": "start the server or fix the network. Loads wait while too few replicas of a shard are left"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "doctor: a replica has no shard identity; loads wait",
        "check": "did the replica lose its disk?",
        "action": "run `inlet topology change --confirm`: the replica gets its tables and copies the rows"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "`inlet audit --replicas` reports a difference",
        "check": "`system.detached_parts`, `lost_part_count` in `system.replicas`",
        "action": "replace the replica (docs/operators/install.md#replicas) that lacks rows, then run `inlet audit`"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [
          "Mutation fails"
        ],
        "symptom": "doctor: mutations on a shard fail; the engine page shows `Mutation fails`; a delete takes a very long time",
        "check": "`system.mutations`, `latest_fail_reason`",
        "action": "fix the cause, or run `KILL MUTATION`. The delete or purge then starts again"
      },
      {
        "alerts": [
          "InletEngineSlow",
          "InletStorageSlow",
          "InletCallsFail"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletEngineSlow`, `InletStorageSlow`, `InletCallsFail`",
        "check": "the dashboard, by server and statement",
        "action": "find the cause in the server's own monitoring"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "doctor: a schema is not up to date",
        "check": "",
        "action": "run `inlet migrate` from the release that is running"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "rows of a cleared audience are still in ClickHouse",
        "check": "`inlet audience purges`",
        "action": "none needed. The rows are invisible, and the purge runs in the background"
      },
      {
        "alerts": [
          "InletReportsWait"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletReportsWait`; new reports return `report_not_ready`",
        "check": "are workers running, with the same `INLET_REPORT_…` settings and sealing keys as the API?",
        "action": "start workers with the same settings as the API"
      },
      {
        "alerts": [
          "InletEventsWait"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletEventsWait`; partners miss webhooks",
        "check": "`inlet_webhook_attempts_total` by outcome; can workers reach public addresses with HTTPS, and do they have the same sealing keys as the API?",
        "action": "allow the connections, or fix the worker settings. No event is lost"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "doctor: \"Unseen devices\"",
        "check": "the check and `inlet partner show` name the last failure; the worker log names the error (search for \"unseen\")",
        "action": "make every replica available, because an unavailable one cannot be counted, and free disk space for the mutation. The removal is repeated every ten minutes"
      },
      {
        "alerts": [
          "InletErasureOverdue"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletErasureOverdue`; doctor: \"Erasures\"",
        "check": "`inlet privacy list` prints the step of the batch and what it is waiting for; the worker log names the error (search for \"erasure\")",
        "action": "`loads`: an earlier load is open, see above (docs/operators/#one-partner-waits). `index`: see `InletIndexBehind`. `servers`: make every replica available, because an unavailable one cannot be counted. `detached_parts`: remove them with `ALTER TABLE … DROP DETACHED PART`. Otherwise, start a worker, or wait: requests with a file run one at a time"
      },
      {
        "alerts": [
          "InletIndexBehind"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletIndexBehind`; reports return `report_not_ready` for minutes",
        "check": "`inlet index status`; is a worker running, and does it log \"device index updated\"? Are all replicas available?",
        "action": "fix the error that the worker log shows. While a replica is unavailable, folds wait"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "`inlet index verify` reports a difference, or a shard was restored by hand",
        "check": "`inlet index status`: pending changes also appear as differences",
        "action": "run `inlet index rebuild`. Loads continue, and reports wait"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "deleted devices still count as matched",
        "check": "",
        "action": "workers forget them within 7 days (`INLET_KNOWN_DEVICES_DAYS`). To forget them now, run `inlet known-devices rebuild`. Imports can continue. If the command is interrupted, run it again"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "doctor: \"Known devices\"",
        "check": "the worker log names the error (search for \"background task failed\"): a replica that is unavailable, or a full disk",
        "action": "fix the cause. A worker tries again every hour. To rebuild immediately, run `inlet known-devices rebuild`"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "doctor: \"Load IDs\", PostgreSQL was restored",
        "check": "`inlet repair ids` prints the effect",
        "action": "run `inlet repair ids --yes`, then `inlet audit`. Tell partners which requests are lost"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "doctor: \"Recent loads\" or \"Damaged parts\"; `inlet audit` reports missing rows",
        "check": "`inlet repair` lists the files",
        "action": "run `inlet repair --yes`: see below (docs/operators/#clickhouse-has-lost-rows)"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "doctor: \"Tables\"",
        "check": "was a table or view changed by hand?",
        "action": "run `inlet migrate`, or restore the table as in `migrations/clickhouse/schema.sql`. Loads wait in the meantime"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "doctor: \"Uploads\", partners cannot upload over HTTP",
        "check": "`INLET_CONSOLE_URL`, the shared bucket's rules",
        "action": "run `inlet migrate` again. If the access key is not allowed to change the bucket's rules, add them yourself: CORS for the console's origin (`PUT`, exposing `ETag`, ID `inlet-console`) and the removal of incomplete multipart uploads after 7 days (ID `inlet-abandoned-uploads`)"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "doctor: \"Notifications\"; subscriptions take up to 30 seconds to import",
        "check": "`INLET_NOTIFICATIONS_URL`, `INLET_NOTIFICATIONS_PORT` of the workers, `inlet_notifications_total`",
        "action": "run `inlet migrate` again. This is also necessary after you rotate the sealing keys. Never delete the topic by hand, because Ceph then rejects every upload: see notifications (docs/operators/install.md#notifications-of-new-objects)"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "uploads fail with 503 `SlowDown` although the storage works",
        "check": "does a worker receive notifications? `inlet_notifications_total`",
        "action": "start a worker that receives them, or run `inlet migrate` without `INLET_NOTIFICATIONS_URL`"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "subscriptions import nothing",
        "check": "`inlet_subscription_listing_delay_seconds`, `inlet_subscription_listings_total` by outcome; the subscription's `waits_for` field",
        "action": "if listings fail, the worker log names the cause. If they are late, start more workers or raise `INLET_SUBSCRIPTION_SECONDS`"
      },
      {
        "alerts": [],
        "failures": [
          "bucket_mismatch"
        ],
        "faults": [],
        "symptom": "doctor: \"Recorded bucket\", `inlet lanes` shows `bucket_mismatch`",
        "check": "`INLET_S3_BUCKET`, `INLET_S3_ENDPOINT`",
        "action": "fix the setting. If you moved the files to another storage system, also copy the object `.inlet/bucket-id`"
      },
      {
        "alerts": [],
        "failures": [
          "credentials_unreadable"
        ],
        "faults": [],
        "symptom": "doctor: \"Sealing keys\", `inlet lanes` shows `credentials_unreadable`",
        "check": "was a key removed from `INLET_SEALING_KEYS` while jobs, webhooks, or deletions needed it?",
        "action": "add it again after the first key. In the meantime, the jobs wait, the webhooks get no events, and deletions fail when they start"
      },
      {
        "alerts": [
          "InletBackupOverdue"
        ],
        "failures": [],
        "faults": [],
        "symptom": "console: `InletBackupOverdue`",
        "check": "the error of the most recent attempt on the backup page, and the scheduler that runs `inlet backup`",
        "action": "fix the cause, then take a backup (docs/backup.md#take-a-backup)"
      },
      {
        "alerts": [],
        "failures": [],
        "faults": [],
        "symptom": "data is lost or damaged",
        "check": "",
        "action": "restore (docs/backup.md#restore), and tell partners what is lost (docs/backup.md#what-is-lost)"
      }
    ]
  },
  {
    "id": "deletion-lists-of-drop",
    "title": "Deletion lists of DROP",
    "incidents": [
      {
        "alerts": [
          "InletDropDue",
          "InletDropUrgent"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletDropDue` (day 30 of 45) or `InletDropUrgent` (day 40)",
        "check": "`inlet privacy drop status`: is a cycle open, and what is it waiting for? Does the schedule run `inlet privacy drop sync`?",
        "action": "run `inlet privacy drop sync --wait`. DROP (docs/operators/drop.md#what-a-cycle-waits-for) explains what a cycle can wait for"
      }
    ]
  },
  {
    "id": "monitoring-does-not-work",
    "title": "Monitoring does not work",
    "incidents": [
      {
        "alerts": [
          "InletProcessDown"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletProcessDown`",
        "check": "is the process running? Can Prometheus reach `INLET_METRICS_HOST` and the port?",
        "action": "start the process, or correct the scrape configuration: see Observe (docs/observability.md)"
      },
      {
        "alerts": [
          "InletScrapeFails"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletScrapeFails`",
        "check": "`inlet doctor`: the process is running, but PostgreSQL does not respond to it",
        "action": "fix PostgreSQL"
      },
      {
        "alerts": [
          "InletBlind"
        ],
        "failures": [],
        "faults": [],
        "symptom": "alert `InletBlind`",
        "check": "the checks for both alerts above",
        "action": "the actions for both alerts above. Until the problem is fixed, no alert about jobs or workers can fire"
      }
    ]
  }
];
