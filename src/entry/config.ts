import { z } from 'zod';
import { type Protection, defaultProtection } from '../domain/composition/protection.ts';
import { environmentPattern } from '../domain/key-format.ts';
import { type Limits, defaultLimits } from '../domain/limits.ts';
import { type Network, parseNetwork } from '../domain/network-address.ts';
import { Secret } from '../domain/secret.ts';
import { httpSettings } from './http-settings.ts';
import { findMissingOidcSettings, oidcSettings } from './oidc-settings.ts';
import { count, networks } from './setting-types.ts';

// The one schema of the configuration, and the only reader of the environment. `docs/configuration.md` is generated
// from it: every variable has a description.

const sealingKeysPattern = /^[a-z0-9-]{1,32}:[0-9a-fA-F]{64}(,[a-z0-9-]{1,32}:[0-9a-fA-F]{64})*$/;
const secret = z
  .string()
  .min(1)
  .transform((value) => new Secret(value));
/** An address with a password in it: what is wrong with it is told, never the address itself. */
const address = (protocols: readonly string[]) =>
  z
    .string()
    .refine((url) => URL.canParse(url) && protocols.includes(new URL(url).protocol), {
      error: `must be an address that begins with ${protocols.join('// or ')}// (is the password escaped?)`,
    })
    .transform((url) => new Secret(url));
/** 0 turns it off. */
const countOrOff = (fallback: number): z.ZodDefault<z.ZodCoercedNumber> =>
  z.coerce.number().int().nonnegative().default(fallback);

const settings = z.object({
  INLET_ENVIRONMENT: z
    .string()
    .regex(environmentPattern, 'must be 1 to 16 of a-z and 0-9, and begin with a letter')
    .default('live')
    .describe(
      'Stands in every API key and user token that is made, `inlet_<environment>_key_…`, so that a leaked one tells where it is from: `live`, `test`, `dev`. Keys that were made before it was changed keep working.',
    ),
  INLET_POSTGRES_URL: address(['postgres:', 'postgresql:']).describe(
    'Address of PostgreSQL with user and password: the control plane.',
  ),
  INLET_API_ROLE: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be the plain name of a role')
    .default('inlet_api')
    .describe(
      'Role of PostgreSQL that the api takes on: it sees the rows of the partner who calls and no others. Made by `inlet migrate`. `none` leaves the api with all the rights of its user. See [deploy.md](deploy.md).',
    ),
  INLET_POSTGRES_CONNECTIONS: count(10).describe(
    'Most connections of one process to PostgreSQL for its own tables. Beside them an api has one for the queue, and one to hear of changes as soon as somebody follows a record; a worker has up to four, one that waits to be woken and one that shows what it is at.',
  ),
  INLET_CLICKHOUSE_URLS: z
    .string()
    .transform((list) => list.split(',').map((url) => url.trim()))
    .pipe(z.array(address(['http:', 'https:'])).min(1))
    .describe('HTTP addresses of ClickHouse with user and password, one per shard, separated by commas.'),
  INLET_CLICKHOUSE_DATABASE: z.string().default('inlet').describe('Database of the data plane, on every shard.'),
  INLET_CLICKHOUSE_CLUSTER: z.string().describe('Name of the cluster in `remote_servers` that holds these shards.'),
  INLET_CLICKHOUSE_BACKUP_DISK: z
    .string()
    .regex(/^[A-Za-z0-9_]+$/)
    .default('backups')
    .describe('Disk of every ClickHouse server on which `inlet backup` saves its rows. See backup.md.'),
  INLET_POSTGRES_TOOLS: z
    .string()
    .default('/usr/bin')
    .describe('Folder of `pg_dump` and `pg_restore`, at least as new as the server. Needed by backups only.'),
  INLET_S3_ENDPOINT: z.url().optional().describe('Address of the object storage; leave it out for AWS.'),
  INLET_S3_REGION: z.string().default('us-east-1').describe('Region of the shared bucket.'),
  INLET_S3_BUCKET: z.string().min(3).describe('The shared bucket into which partners upload.'),
  INLET_S3_ACCESS_KEY_ID: z.string().min(1).describe('Access key of the owner of the shared bucket.'),
  INLET_S3_SECRET_ACCESS_KEY: secret.describe('Secret of that access key.'),
  INLET_STORAGE_ADMIN_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe(
      'Access key of a Ceph admin user (`users=*;user-policy=*`). Needed by `inlet partner create` only, and not with `--without-storage`.',
    ),
  INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY: secret.optional().describe('Secret of that access key.'),
  INLET_PARTNER_S3_ENDPOINT: z
    .url()
    .optional()
    .describe(
      'Address of the storage that holds partner-owned buckets; leave it out for AWS. Never taken from a request.',
    ),
  INLET_PARTNER_S3_NETWORKS: networks
    .optional()
    .describe(
      'Networks that are not public and in which that storage may be all the same, as `10.1.2.0/24`, separated by commas. Without them workers read partner-owned buckets from public addresses only.',
    ),
  INLET_ROLE_ACCESS_KEY_ID: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Access key of the identity with which Inlet assumes roles of partners. Without it partners must send keys.',
    ),
  INLET_ROLE_SECRET_ACCESS_KEY: secret.optional().describe('Secret of that access key.'),
  INLET_SEALING_KEYS: z
    .string()
    .regex(sealingKeysPattern, 'must be <id>:<64 hexadecimal digits>, more of them separated by commas')
    .transform((list) => list.split(',').map((entry) => new Secret(entry)))
    .describe('Keys that seal partner credentials, `<id>:<64 hexadecimal digits>`. The first seals, all can open.'),
  INLET_API_HOST: z.string().default('127.0.0.1').describe('Address on which the api listens.'),
  INLET_API_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(8080)
    .describe('Port of the api; 0 takes a free one.'),
  ...httpSettings,
  INLET_METRICS_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .describe(
      'Port of `/metrics`, for api and worker each; 0 takes a free one. Without it nothing is measured. See observability.md.',
    ),
  INLET_METRICS_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('Address on which `/metrics` is served. It asks for no key: only Prometheus should reach it.'),
  INLET_OTLP_URL: address(['http:', 'https:'])
    .optional()
    .describe(
      'Address of an OpenTelemetry collector (OTLP over HTTP, JSON); `/v1/traces` is added. Without it nothing is traced.',
    ),
  INLET_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('What is written to the log.'),
  INLET_WORKER_LANES: count(4).describe('Lanes that one worker process moves at a time.'),
  INLET_WORKER_FILES: count(4).describe('Files that one worker process loads at a time.'),
  INLET_FILES_OUT_PER_LANE: count(16).describe('Files of one partner that may be loading at a time, over all workers.'),
  INLET_ROOM_BYTES: count(8 * 1024 * 1024).describe(
    'Loads from this size on (a large file, or a batch of small ones) are staged in tables of their own, which makes publishing them a matter of milliseconds.',
  ),
  INLET_SHUTDOWN_GRACE_SECONDS: count(30).describe('How long a process that was told to stop may finish its work.'),
  INLET_PURGE_SECONDS: count(10).describe(
    'How often a worker looks whether rows of cleared audiences are to be removed from the engine.',
  ),
  INLET_FAILPOINT: z
    .string()
    .optional()
    .describe('For tests of crashes only: the point between two effects at which the process kills itself.'),
  INLET_MAX_LINE_BYTES: count(defaultLimits.maxLineBytes).describe(
    'Longest line of a file; longer ones are rejected rows.',
  ),
  INLET_MAX_FILES_PER_PREFIX: count(defaultLimits.maxFilesPerPrefix).describe('Most files that one job may load.'),
  INLET_MAX_GZIP_FILE_BYTES: count(defaultLimits.maxGzipFileBytes).describe('Largest gzipped file.'),
  INLET_MAX_PLAIN_FILE_BYTES: count(defaultLimits.maxPlainFileBytes).describe('Largest file that is not compressed.'),
  INLET_MAX_OPEN_JOBS: count(defaultLimits.maxOpenJobs).describe('Most unfinished jobs of one partner.'),
  INLET_MAX_FOLLOWERS: count(1_000).describe(
    'Most requests of one api process that wait for a change of a record (`Prefer: wait`) or are streams of events.',
  ),
  INLET_MAX_FOLLOWERS_PER_PARTNER: count(250).describe('Most of them for one partner.'),
  INLET_STREAM_SECONDS: count(300).describe(
    'How long a stream of events lasts; its client then comes back, and shows its key again.',
  ),
  INLET_REPORT_HIDE_UNDER: countOrOff(defaultProtection.hideUnder).describe(
    'In composition reports, numbers under this one are hidden; 0 hides none. See composition.md before you change it.',
  ),
  INLET_REPORT_FLAG_UNDER: countOrOff(defaultProtection.flagUnder).describe(
    'In composition reports, numbers under this one are flagged as `small`; 0 flags none.',
  ),
  INLET_REPORT_NOISE: countOrOff(defaultProtection.noise)
    .refine((most) => most <= 10_000, 'must be at most 10000')
    .describe('Numbers of composition reports are off by at most so many; 0 adds no noise.'),
  INLET_REPORT_ROUND_TO: countOrOff(defaultProtection.roundTo).describe(
    'Numbers of composition reports are rounded down to a multiple of this; 0 does not round.',
  ),
  INLET_REPORT_KEY: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hexadecimal digits')
    .transform((digits) => new Secret(digits))
    .optional()
    .describe(
      'Key of the noise in composition reports, 64 hexadecimal digits; else it follows from the first sealing key.',
    ),
  ...oidcSettings,
});

export const configSchema = settings.superRefine((config, context) => {
  for (const { name, message } of findMissingOidcSettings(config)) {
    context.addIssue({ code: 'custom', path: [name], message });
  }
});

export type Config = z.infer<typeof configSchema>;

export function readConfig(): Config {
  // Empty is as good as missing.
  // oxlint-disable-next-line node/no-process-env -- the only place that reads the environment
  const given = Object.entries(process.env).filter(([, value]) => value !== '');
  const parsed = configSchema.safeParse(Object.fromEntries(given));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `  ${path.join('.')}: ${message}`);
  throw new Error(`The configuration is not complete (see docs/configuration.md):\n${problems.join('\n')}`);
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

export function protectionOf(config: Config): Protection {
  return {
    hideUnder: config.INLET_REPORT_HIDE_UNDER,
    flagUnder: config.INLET_REPORT_FLAG_UNDER,
    noise: config.INLET_REPORT_NOISE,
    roundTo: config.INLET_REPORT_ROUND_TO,
  };
}
