import { z } from 'zod';
import { type Protection, defaultProtection } from '../domain/composition/protection.ts';
import { environmentPattern } from '../domain/key-format.ts';
import { type Limits, defaultLimits } from '../domain/limits.ts';
import { type Network, parseNetwork } from '../domain/network-address.ts';
import { type Quotas, defaultQuotas } from '../domain/quota.ts';
import { type Retention, defaultRetention, minAuditLogDays, minJobDays } from '../domain/retention.ts';
import { Secret } from '../domain/secret.ts';
import { consoleSettings, findMissingConsoleSettings } from './console-settings.ts';
import { dropSettings, findDropMistakes } from './drop-settings.ts';
import { httpSettings } from './http-settings.ts';
import { findMissingOidcSettings, oidcSettings } from './oidc-settings.ts';
import { findNotificationMistakes, subscriptionSettings } from './subscription-settings.ts';
import { readSecretFiles } from './secret-files.ts';
import { address, count } from './setting-types.ts';
import { describeProblem, messageOfIssue } from './setting-problems.ts';
import { SettingsError } from './settings-error.ts';
import { findHalfKeys, storageSettings } from './storage-settings.ts';
import { clickhouseTlsSettings, findTlsMistakes, postgresTlsSettings, withPostgresTls } from './store-tls-settings.ts';
import { webhookSettings } from './webhook-settings.ts';

// The configuration schema. Only this file reads environment variables. `docs/configuration.md` is generated from the
// schema.

const sealingKeysPattern = /^[a-z0-9-]{1,32}:[0-9a-fA-F]{64}(,[a-z0-9-]{1,32}:[0-9a-fA-F]{64})*$/;
/** 0 disables the feature. */
const countOrOff = (fallback: number): z.ZodDefault<z.ZodCoercedNumber> =>
  z.coerce.number().int().nonnegative().default(fallback);

const daysOf = (fallback: number, min: number): z.ZodDefault<z.ZodCoercedNumber> =>
  z.coerce.number().int().min(min).default(fallback);

const settings = z.object({
  INLET_ENVIRONMENT: z
    .string()
    .regex(environmentPattern, 'must be 1 to 16 characters long (a-z and 0-9) and start with a letter')
    .default('live')
    .describe(
      'Name of the environment, for example `live`, `test`, or `dev`. The name is part of every new API key and user token (`inlet_<environment>_key_…`), so that a leaked key shows its origin. Existing keys keep working after a change.',
    ),
  INLET_POSTGRES_URL: address(['postgres:', 'postgresql:']).describe(
    'URL of the PostgreSQL control plane, including user and password.',
  ),
  INLET_API_ROLE: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be a role name that contains only a-z, 0-9, and _')
    .default('inlet_api')
    .describe(
      "PostgreSQL role that the api uses. Row-level security restricts the role to the calling partner's rows. `inlet migrate` creates the role. With `none`, the api has all privileges of its database user. See [deploy.md](deploy.md).",
    ),
  INLET_OPERATOR_POSTGRES_URL: address(['postgres:', 'postgresql:'])
    .optional()
    .describe(
      'URL of PostgreSQL for the [operator API](operators/operator-api.md), with a user that can read the rows of all partners. Required if `INLET_POSTGRES_URL` of the api contains a login that has only the privileges of the API role. The default is `INLET_POSTGRES_URL`.',
    ),
  ...postgresTlsSettings,
  INLET_POSTGRES_CONNECTIONS: count(10).describe(
    'Maximum number of pooled PostgreSQL connections per process. An api opens one more connection for the queue and, while clients follow records or wait for reports, one for change notifications. A worker opens up to four more connections for the queue, two for notifications, and one for its liveness.',
  ),
  INLET_CLICKHOUSE_URLS: z
    .string()
    .transform((list) => list.split(',').map((shard) => shard.split('|').map((url) => url.trim())))
    .pipe(z.array(z.array(address(['http:', 'https:']))).min(1))
    .describe(
      'HTTP URLs of ClickHouse with user and password, one per shard, separated by commas. The replicas of a shard are separated by `|`, for example `URL1|URL2,URL3|URL4`.',
    ),
  ...clickhouseTlsSettings,
  INLET_REPLICAS_REQUIRED: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .describe(
      'Number of replicas of a shard that must have the rows of a load before the load counts as published. With fewer available replicas, loads wait. The default is 2, or a majority of the replicas if a shard has more than three.',
    ),
  INLET_REPLICA_LOST_SECONDS: count(20).describe(
    'Time after which loads continue without a replica that does not respond. Rows that were staged on it are loaded again from the files.',
  ),
  INLET_CLICKHOUSE_DATABASE: z.string().default('inlet').describe('ClickHouse database on every shard.'),
  INLET_CLICKHOUSE_CLUSTER: z.string().describe('Name of the cluster in `remote_servers` that contains these shards.'),
  INLET_CLICKHOUSE_BACKUP_DISK: z
    .string()
    .regex(/^[A-Za-z0-9_]+$/, 'must be a disk name that contains only letters, digits, and _')
    .default('backups')
    .describe('Name of the ClickHouse disk on every server to which `inlet backup` writes. See backup.md.'),
  INLET_POSTGRES_TOOLS: z
    .string()
    .default('/usr/bin')
    .describe(
      'Folder with `pg_dump` and `pg_restore`, which must be at least as new as the server. Required only for backups.',
    ),
  ...storageSettings,
  INLET_SEALING_KEYS: z
    .string()
    .regex(sealingKeysPattern, 'must be a comma-separated list of <id>:<64 hexadecimal digits>')
    .transform((list) => list.split(',').map((entry) => new Secret(entry)))
    .describe(
      'Comma-separated keys that encrypt partner credentials, in the form `<id>:<64 hexadecimal digits>`. The first key encrypts, and all keys can decrypt.',
    ),
  INLET_API_HOST: z.string().default('127.0.0.1').describe('Address on which the api listens.'),
  INLET_API_PORT: z.coerce.number().int().min(0).max(65_535).default(8080).describe('API port. 0 selects a free port.'),
  ...httpSettings,
  INLET_METRICS_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe(
      'Port of `/metrics` in each api and worker process. 0 selects a free port. If it is not set, metrics are disabled. See observability.md.',
    ),
  INLET_METRICS_HOST: z
    .string()
    .default('127.0.0.1')
    .describe(
      'Address on which `/metrics` is served. `/metrics` requires no authentication, so only Prometheus should be able to reach it.',
    ),
  INLET_OTLP_URL: address(['http:', 'https:'])
    .optional()
    .describe(
      'URL of an OpenTelemetry collector (OTLP over HTTP, JSON). `/v1/traces` is appended. If it is not set, tracing is disabled.',
    ),
  INLET_LOG_LEVEL: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('Minimum level of log messages.'),
  INLET_WORKER_LANES: count(8).describe('Number of lanes that one worker process runs concurrently.'),
  INLET_WORKER_FILES: count(4).describe(
    'Number of file batches that one worker process loads concurrently. Of two or more, half are reserved for loads of up to 8 MiB, and a quarter (at least one) for larger loads.',
  ),
  INLET_FILES_OUT_PER_LANE: count(4).describe('Maximum number of concurrent loads per partner, across all workers.'),
  INLET_ROOM_BYTES: count(8 * 1024 * 1024).describe(
    'Minimum size, in bytes, of a load that gets its own staging tables. Publishing such a load takes milliseconds.',
  ),
  INLET_SHUTDOWN_GRACE_SECONDS: count(30).describe(
    'Time, in seconds, that a process has to finish its work after SIGTERM.',
  ),
  INLET_MATCHED_UNIT: count(50).describe(
    'For audiences with fewer than 1,000 devices, the number of matched devices is rounded down to a multiple of this value, so that it does not reveal whether a particular device is known. 1 shows exact numbers.',
  ),
  INLET_PURGE_SECONDS: count(10).describe(
    'Interval in seconds at which a worker checks for rows of cleared audiences to purge from ClickHouse.',
  ),
  INLET_RETENTION_DAYS: daysOf(defaultRetention.jobDays, minJobDays).describe(
    `Number of days for which finished jobs and their files are kept, at least ${minJobDays}. The files of an audience are kept until the audience is cleared.`,
  ),
  INLET_AUDIT_LOG_DAYS: daysOf(defaultRetention.auditLogDays, minAuditLogDays).describe(
    `Number of days for which entries of the audit log are kept, at least ${minAuditLogDays}. PostgreSQL rejects the deletion of younger entries.`,
  ),
  INLET_PURGE_WAIT_HOURS: count(12).describe(
    "Maximum time, in hours, before rows of cleared audiences are purged. They are purged earlier when they make up a tenth of all of the partner's rows. Rows of partners with up to a million rows do not wait.",
  ),
  INLET_KNOWN_DEVICES_DAYS: countOrOff(7).describe(
    'Number of days between rebuilds of the known devices. A rebuild forgets devices for which no partner has an attribute any longer. 0 disables rebuilds. `inlet known-devices rebuild` rebuilds at any time.',
  ),
  INLET_TOPOLOGY_SECONDS: count(30).describe(
    'Interval in seconds at which a process compares the recorded shards with its configuration and with the cluster definition on every shard.',
  ),
  INLET_FAILPOINT: z
    .string()
    .optional()
    .describe('For crash tests only: the failpoint at which the process kills itself.'),
  INLET_MAX_LINE_BYTES: count(defaultLimits.maxLineBytes).describe(
    'Maximum length of a line in bytes. Longer lines are rejected.',
  ),
  INLET_MAX_FILES_PER_PREFIX: count(defaultLimits.maxFilesPerPrefix).describe('Maximum number of files in one job.'),
  INLET_MAX_GZIP_FILE_BYTES: count(defaultLimits.maxGzipFileBytes).describe('Maximum size of a gzip file in bytes.'),
  INLET_MAX_PLAIN_FILE_BYTES: count(defaultLimits.maxPlainFileBytes).describe(
    'Maximum size of an uncompressed file in bytes.',
  ),
  INLET_MAX_OPEN_JOBS: count(defaultLimits.maxOpenJobs).describe('Maximum number of unfinished jobs per partner.'),
  INLET_MAX_STORED_ROWS: count(defaultQuotas.storedRows).describe(
    "Maximum number of rows that ClickHouse stores for one partner's attributes and audiences. Above it, imports and appends are rejected.",
  ),
  INLET_MAX_STORED_BYTES: count(defaultQuotas.storedBytes).describe(
    'Maximum number of bytes that the stored rows of a partner occupy on disk, without replicas.',
  ),
  INLET_MAX_AUDIENCES: count(defaultQuotas.audiences).describe('Maximum number of audiences per partner.'),
  INLET_MAX_ATTRIBUTES: count(defaultQuotas.attributes).describe(
    'Maximum number of attributes per partner, including retired ones.',
  ),
  INLET_MAX_FOREIGN_KEYS: count(defaultQuotas.foreignKeys).describe('Maximum number of foreign keys per partner.'),
  INLET_MAX_WEBHOOKS: count(defaultQuotas.webhooks).describe('Maximum number of webhooks per partner.'),
  INLET_MAX_SUBSCRIPTIONS: count(defaultQuotas.subscriptions).describe('Maximum number of subscriptions per partner.'),
  INLET_MAX_IDEMPOTENCY_KEYS: count(defaultQuotas.idempotencyKeys).describe(
    'Maximum number of requests with an `Idempotency-Key` per partner in 24 hours. Above it, requests with a new key are rejected.',
  ),
  INLET_MAX_FOLLOWERS: count(1_000).describe(
    'Maximum number of event streams and waiting requests (`Prefer: wait`) in one api process.',
  ),
  INLET_MAX_FOLLOWERS_PER_PARTNER: count(250).describe(
    'Maximum number of event streams and waiting requests per partner in one api process.',
  ),
  INLET_STREAM_SECONDS: count(300).describe(
    'Maximum duration of an event stream in seconds. The client then reconnects and authenticates again.',
  ),
  INLET_REPORT_HIDE_UNDER: countOrOff(defaultProtection.hideUnder).describe(
    'Composition reports hide counts below this value. 0 hides none. See composition.md before you change this setting.',
  ),
  INLET_REPORT_FLAG_UNDER: countOrOff(defaultProtection.flagUnder).describe(
    'Composition reports flag counts below this value as `small`. 0 flags none.',
  ),
  INLET_REPORT_NOISE: countOrOff(defaultProtection.noise)
    .refine((bound) => bound <= 10_000, 'must be at most 10000')
    .describe('Maximum noise added to counts in composition reports. 0 adds none.'),
  INLET_REPORT_ROUND_TO: countOrOff(defaultProtection.roundTo).describe(
    'Composition reports round counts down to a multiple of this value. 0 disables rounding.',
  ),
  INLET_REPORTS_PER_DAY: countOrOff(100).describe(
    'Maximum number of new composition reports, and separately of new overlaps, per partner and day (UTC), across all of its customers. 0 disables the limit. Reading a report again does not count. See composition.md before you change this setting.',
  ),
  INLET_REPORTS_PER_CUSTOMER: countOrOff(100).describe(
    'Privacy budget: maximum number of new composition reports, and separately of new overlaps, per customer in 30 days. 0 disables the limit. See composition.md before you change this setting.',
  ),
  INLET_REPORT_KEY: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits')
    .transform((digits) => new Secret(digits))
    .optional()
    .describe(
      'Secret key for the noise in composition reports, 64 hexadecimal digits. If it is not set, the key is derived from the first sealing key.',
    ),
  ...subscriptionSettings,
  INLET_PROOF_KEY: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits')
    .transform((digits) => new Secret(digits))
    .optional()
    .describe(
      'Secret key (Ed25519) with which workers sign proofs of erasures, 64 hexadecimal digits. If it is not set, proofs are not signed. See privacy.md.',
    ),
  ...dropSettings,
  ...webhookSettings,
  ...oidcSettings,
  ...consoleSettings,
});

export const configSchema = settings
  .superRefine((config, context) => {
    const mistakes = [
      ...findHalfKeys(config),
      ...findDropMistakes(config),
      ...findNotificationMistakes(config),
      ...findTlsMistakes(config),
      ...findMissingOidcSettings(config),
      ...findMissingConsoleSettings(config),
    ];
    for (const { name, message } of mistakes) context.addIssue({ code: 'custom', path: [name], message });
  })
  .overwrite(withPostgresTls);

export type Config = z.infer<typeof configSchema>;

export function readConfig(): Config {
  // An empty variable is treated as missing.
  // oxlint-disable-next-line node/no-process-env -- the only place that reads the environment
  const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
  const { settings: complete, problems: fileProblems } = readSecretFiles(given);
  const parsed = configSchema.safeParse(complete, { error: messageOfIssue });
  if (parsed.success && fileProblems.length === 0) return parsed.data;
  const unread = new Set(fileProblems.map(({ setting }) => setting));
  const found: { readonly setting: string; readonly variable?: string; readonly problem: string }[] = [
    ...fileProblems.map(({ setting, variable, message }) => ({
      setting,
      variable,
      problem: message,
    })),
    // A secret whose file cannot be read is not also reported as missing.
    ...(parsed.error?.issues ?? [])
      .map(({ path, message }) => ({ setting: String(path[0]), problem: message }))
      .filter(({ setting }) => !unread.has(setting)),
  ];
  throw new SettingsError(withoutRepetition(found).map((one) => describeProblem(configSchema.shape, one)));
}

/** Several entries in a list can have the same problem. */
function withoutRepetition<T extends { readonly setting: string; readonly problem: string }>(found: readonly T[]): T[] {
  return [...new Map(found.map((one) => [`${one.setting} ${one.problem}`, one])).values()];
}

export function partnerNetworksOf(config: Config): readonly Network[] {
  return (config.INLET_PARTNER_S3_NETWORKS ?? []).flatMap((text) => parseNetwork(text) ?? []);
}

export function limitsOf(config: Config): Limits {
  return {
    maxLineBytes: config.INLET_MAX_LINE_BYTES,
    maxFilesPerPrefix: config.INLET_MAX_FILES_PER_PREFIX,
    maxGzipFileBytes: config.INLET_MAX_GZIP_FILE_BYTES,
    maxPlainFileBytes: config.INLET_MAX_PLAIN_FILE_BYTES,
    maxOpenJobs: config.INLET_MAX_OPEN_JOBS,
  };
}

export function quotasOf(config: Config): Quotas {
  return {
    storedRows: config.INLET_MAX_STORED_ROWS,
    storedBytes: config.INLET_MAX_STORED_BYTES,
    audiences: config.INLET_MAX_AUDIENCES,
    attributes: config.INLET_MAX_ATTRIBUTES,
    foreignKeys: config.INLET_MAX_FOREIGN_KEYS,
    webhooks: config.INLET_MAX_WEBHOOKS,
    subscriptions: config.INLET_MAX_SUBSCRIPTIONS,
    idempotencyKeys: config.INLET_MAX_IDEMPOTENCY_KEYS,
  };
}

export function retentionOf(config: Config): Retention {
  return { jobDays: config.INLET_RETENTION_DAYS, auditLogDays: config.INLET_AUDIT_LOG_DAYS };
}

export function protectionOf(config: Config): Protection {
  return {
    hideUnder: config.INLET_REPORT_HIDE_UNDER,
    flagUnder: config.INLET_REPORT_FLAG_UNDER,
    noise: config.INLET_REPORT_NOISE,
    roundTo: config.INLET_REPORT_ROUND_TO,
  };
}
