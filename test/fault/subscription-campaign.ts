import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import {
  type BucketOwner,
  ensureBucketNotifications,
  removeBucketNotifications,
} from '../../src/adapters/ceph/bucket-notifications.ts';
import { notificationsPath } from '../../src/adapters/notifications/receiver.ts';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { notificationTokens } from '../../src/adapters/vault/keys.ts';
import { createAttribute } from '../../src/usecases/admin/manage-partners.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { Trigger } from '../../src/domain/subscription.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { pickPort } from '../../stack/ports.ts';
import { device } from '../support/device-id.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { startWorker, stopProcess } from '../support/running-service.ts';
import { attributesOf } from '../support/shard-tables.ts';
import { createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { newBarePartner, wireAll } from '../support/wired.ts';
import { configFor } from '../support/environment.ts';
import { seededRandom } from './webhook-campaign.ts';

// Uploads, overwrites, and renames objects at random, while notifications are lost and workers are killed. The first
// partner writes markers, and the second one uploads earlier content again.

const markerPartner = 0;
const repeatingPartner = 1;
const markerName = '_SUCCESS';
/** The number of changes after which the marker is written again. */
const changesPerMarker = 5;
/**
 * A version that still existed this long after a listing was due must have been seen. A killed worker keeps its lease
 * for 10 s, and then the listing itself takes some time on a busy machine.
 */
const unseenMarginMs = 20_000;

type Version = {
  readonly key: string;
  readonly etag: string;
  readonly device: string;
  readonly at: number;
  /** The time at which it was overwritten, renamed, or deleted. */
  goneAt: number | null;
};

type Seen = { readonly key: string; readonly etag: string; readonly state: string };

export type SubscriptionCampaign = Awaited<ReturnType<typeof startSubscriptionCampaign>>;

/** Forwards some of the notifications to a running worker and drops the rest. */
async function startRelay(random: () => number, dropped: number, ports: readonly number[]) {
  const counts = { passed: 0, dropped: 0 };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      if (random() < dropped) {
        counts.dropped += 1;
        return;
      }
      counts.passed += 1;
      const port = ports[Math.floor(random() * ports.length)];
      // A worker that was killed receives nothing, so more notifications are lost.
      fetch(`http://127.0.0.1:${port}${request.url}`, { method: 'POST', body: Buffer.concat(chunks) }).catch(
        () => undefined,
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  return {
    counts,
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export async function startSubscriptionCampaign(
  seed: number,
  { partners: partnerCount, dropped, listSeconds }: { partners: number; dropped: number; listSeconds: number },
) {
  const random = seededRandom(seed);
  const stores = await createStores('one');
  const { s3: storage } = readAddresses();
  const bucket = `inlet-arrivals-${process.pid}-${Date.now().toString(36)}`;
  const owner: BucketOwner = {
    endpoint: storage.endpoint,
    region: storage.region,
    accessKeyId: storage.providerAccessKeyId,
    secretAccessKey: new Secret(storage.providerSecretAccessKey),
    bucket,
  };
  const s3 = connectS3(owner);
  await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  const ports = [await pickPort([]), await pickPort([])];
  const relay = await startRelay(random, dropped, ports);
  const environment = {
    ...stores.environment,
    INLET_S3_BUCKET: bucket,
    INLET_SUBSCRIPTION_SECONDS: String(listSeconds),
  };
  const deps = await wireAll(configFor(environment));
  const [token] = notificationTokens(configFor(environment).INLET_SEALING_KEYS);
  if (!token) throw new Error('there is no sealing key');
  rememberSecrets(token.reveal());
  if (dropped < 1)
    await ensureBucketNotifications(s3, owner, new Secret(relay.url + notificationsPath + token.reveal()));
  const start = (port: number) =>
    startWorker({ ...environment, INLET_NOTIFICATIONS_PORT: String(port) }, 'subscription-campaign');
  const workers = await Promise.all(ports.map(start));
  const partners = await Promise.all(
    Array.from({ length: partnerCount }, async (_, index) => {
      const partner = await newBarePartner(deps);
      await createAttribute(deps, partner.name, { name: 'sport', foreignKeys: ['sport'] });
      const trigger: Trigger =
        index === markerPartner ? { on: 'marker', name: markerName } : { on: 'quiet', seconds: 0 };
      const settings = { keyType: 1, compressed: false, trigger } as const;
      const subscription = { ...settings, prefix: 'in/', skipsExisting: false };
      return { ...partner, subscriptionId: await deps.subscriptions.create(partner.id, subscription, null) };
    }),
  );
  /** All uploaded versions, and the current version of each key. */
  const versions: Version[] = [];
  const current = new Map<string, Version>();
  let serial = 0;
  const etagOf = (text: string): string => `"${createHash('md5').update(text).digest('hex')}"`;
  const record = (version: Version): void => {
    const before = current.get(version.key);
    if (before) before.goneAt = version.at;
    versions.push(version);
    current.set(version.key, version);
  };
  const put = async (key: string, own = device((serial += 1))): Promise<void> => {
    const text = `${own},sport\n`;
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: text }));
    record({ key, etag: etagOf(text), device: own, at: Date.now(), goneAt: null });
  };
  /** Uploads the content that the key had before its current content. */
  const putEarlier = (key: string): Promise<void> => {
    const earlier = versions.findLast((version) => version.key === key && version.etag !== current.get(key)?.etag);
    return put(key, earlier?.device);
  };
  let changesOfMarkerPartner = 0;
  const putMarker = async (prefix: string): Promise<void> => {
    await s3.send(new PutObjectCommand({ Bucket: bucket, Key: `${prefix}in/${markerName}`, Body: '' }));
  };
  const newKey = (prefix: string): string => {
    return `${prefix}in/${Math.floor(random() * 1e9).toString(36)}-${versions.length}.csv`;
  };
  const anyKey = (prefix: string): string | undefined => {
    const keys = [...current.keys()].filter((key) => key.startsWith(prefix));
    return keys[Math.floor(random() * keys.length)];
  };
  const rename = async (key: string): Promise<void> => {
    const version = current.get(key);
    if (!version) return;
    const target = key.replace(/\.csv$/, '-renamed.csv');
    await s3.send(new CopyObjectCommand({ Bucket: bucket, CopySource: `${bucket}/${key}`, Key: target }));
    record({ ...version, key: target, at: Date.now(), goneAt: null });
    await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }));
    version.goneAt = Date.now();
    current.delete(key);
  };
  const query = <Row extends Record<string, unknown>>(text: string): Promise<Row[]> =>
    withDatabase(stores, async (client) => (await client.query<Row>(text)).rows);

  return {
    relay,
    versions,
    /** Makes one random change to a partner's objects. Must not run concurrently for the same partner. */
    change: async (partner: number): Promise<void> => {
      const prefix = partners[partner]?.prefix ?? '';
      const choice = random();
      const existing = anyKey(prefix);
      if (choice < 0.7 || existing === undefined) await put(newKey(prefix));
      else if (choice < 0.85) await (partner === repeatingPartner ? putEarlier(existing) : put(existing));
      else await rename(existing);
      if (partner !== markerPartner) return;
      changesOfMarkerPartner += 1;
      if (changesOfMarkerPartner % changesPerMarker === 0) await putMarker(prefix);
    },
    killWorker: async (): Promise<void> => {
      const index = Math.floor(random() * workers.length);
      const [victim, port] = [workers[index], ports[index]];
      if (!victim || port === undefined) return;
      victim.child.kill('SIGKILL');
      if (victim.child.exitCode === null && victim.child.signalCode === null) await once(victim.child, 'exit');
      workers[index] = await start(port);
    },
    /** Waits until every current version has been imported. */
    settle: async (seconds: number): Promise<void> => {
      // The storage may record times in whole seconds, and a marker covers what was written before it.
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      await putMarker(partners[markerPartner]?.prefix ?? '');
      await waitUntil(
        'every object is imported',
        async () => {
          const [left] = await query<{ waiting: string; imported: string }>(`
            SELECT count(*) FILTER (WHERE state IN ('waiting', 'queued')) AS waiting,
              count(*) FILTER (WHERE state = 'imported' AND gone_at IS NULL) AS imported FROM subscription_object`);
          return Number(left?.waiting) === 0 && Number(left?.imported) >= current.size;
        },
        seconds,
        500,
      );
    },
    /** Compares what was loaded with the storage. */
    findErrors: async (): Promise<string[]> => {
      const rows = await query<Seen & { loads: string; rows: string; last: string | null }>(`
        SELECT o.key, o.etag, o.state,
          (SELECT f.etag FROM job_file f WHERE f.key = o.key AND f.status = 2 ORDER BY f.job_id DESC LIMIT 1) AS last,
          (SELECT count(*) FROM job_file f WHERE f.key = o.key AND f.etag = o.etag AND f.status = 2) AS loads,
          (SELECT coalesce(sum(accepted_rows), 0) FROM job_file f WHERE f.key = o.key AND f.etag = o.etag) AS rows
        FROM subscription_object o WHERE o.state <> 'marker'`);
      const seen = new Map(rows.map((row) => [`${row.key} ${row.etag}`, row]));
      const listed = await listAll();
      const errors = rows.flatMap(({ key, etag, state, loads, rows: accepted }) => {
        // A version that is uploaded again is loaded again only if a listing has seen another version in between.
        const uploads = versions.filter((version) => version.key === key && version.etag === etag).length;
        const isKnown = ['imported', 'overwritten', 'deleted'].includes(state);
        const isExpected =
          uploads > 1
            ? Number(loads) <= uploads && (state !== 'imported' || Number(loads) > 0)
            : Number(loads) === (state === 'imported' ? 1 : 0);
        if (isKnown && isExpected && Number(accepted) === Number(loads)) return [];
        return [`${key} ${etag} is ${state}, was loaded ${loads} times, and has ${accepted} rows`];
      });
      for (const version of listed)
        if (seen.get(version)?.state !== 'imported') errors.push(`${version} exists and is not imported`);
      for (const { key, etag } of current.values()) {
        const last = seen.get(`${key} ${etag}`)?.last;
        if (last !== etag) errors.push(`${key} was loaded last as ${last}, and is now ${etag}`);
      }
      for (const { key, etag, at, goneAt } of versions) {
        const livedMs = (goneAt ?? Date.now()) - at;
        if (!seen.has(`${key} ${etag}`) && livedMs > listSeconds * 1000 + unseenMarginMs)
          errors.push(`${key} ${etag} was there for ${livedMs} ms and was never seen`);
      }
      const [files] = await query<{ loaded: string }>('SELECT count(*) AS loaded FROM job_file WHERE status = 2');
      if (Number(files?.loaded) !== rows.reduce((sum, { loads }) => sum + Number(loads), 0))
        errors.push(`${files?.loaded} files were loaded`);
      for (const { id, prefix } of partners) {
        const found = new Set((await attributesOf(stores, id)).map((line) => line.split(' ')[1]));
        const expected = new Set(
          versions.flatMap(({ key, etag, device: own }) =>
            key.startsWith(prefix) && Number(seen.get(`${key} ${etag}`)?.loads ?? 0) > 0 ? own : [],
          ),
        );
        if (found.symmetricDifference(expected).size > 0) errors.push(`partner ${id} has other devices`);
      }
      return errors;
    },
    figures: async () => {
      const states = await query<{ state: string; count: string }>(
        'SELECT state, count(*) AS count FROM subscription_object GROUP BY state ORDER BY state',
      );
      const imports = await query<{ count: string }>('SELECT count(*) AS count FROM import_log');
      const jobs = await query<{ key: string; etag: string; at: Date }>(`
        SELECT o.key, o.etag, job.created_at AS at FROM subscription_object o JOIN job ON job.id = o.job_id`);
      const at = new Map(jobs.map((row) => [`${row.key} ${row.etag}`, row.at.getTime()]));
      const uploads = Map.groupBy(versions, ({ key, etag }) => `${key} ${etag}`);
      const seen = states.reduce((sum, { state, count }) => sum + (state === 'marker' ? 0 : Number(count)), 0);
      const markerPrefix = partners[markerPartner]?.prefix ?? '';
      const lags = versions
        // Objects that wait for a marker are late on purpose. For versions that were uploaded again, only the last
        // import is known.
        .filter(({ key, etag }) => !key.startsWith(markerPrefix) && uploads.get(`${key} ${etag}`)?.length === 1)
        .flatMap((version) => {
          const queued = at.get(`${version.key} ${version.etag}`);
          return queued === undefined ? [] : Math.max(0, queued - version.at);
        })
        .toSorted((one, other) => one - other);
      return {
        versions: versions.length,
        uploadedAgain: versions.length - uploads.size,
        neverSeen: uploads.size - seen,
        ...Object.fromEntries(states.map(({ state, count }) => [state, Number(count)])),
        imports: Number(imports[0]?.count),
        notifications: { ...relay.counts },
        lags,
      };
    },
    stop: async (): Promise<void> => {
      if (dropped < 1) await removeBucketNotifications(s3, owner);
      await Promise.all(workers.map(({ child }) => stopProcess(child)));
      relay.close();
      await deps.close();
      s3.destroy();
      await stores.drop();
    },
  };

  async function listAll(): Promise<string[]> {
    const found: string[] = [];
    for (let after: string | undefined; ;) {
      const page = await s3.send(new ListObjectsV2Command({ Bucket: bucket, ...(after && { StartAfter: after }) }));
      for (const { Key: key, ETag: etag } of page.Contents ?? [])
        if (!key?.endsWith(`/${markerName}`)) found.push(`${key} ${etag}`);
      after = page.IsTruncated === true ? page.Contents?.at(-1)?.Key : undefined;
      if (after === undefined) return found;
    }
  }
}
