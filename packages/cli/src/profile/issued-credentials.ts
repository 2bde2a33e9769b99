import type { StorageSettings } from '@inlet/sdk';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { wrongUse } from '../failures/cli-failure.ts';
import { ask, canAsk } from '../terminal/prompt.ts';

/** The known credentials of a partner. Field names are the same as in `inlet partner create`. */
export type Issued = {
  readonly url?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly userToken?: string | undefined;
  readonly storage: {
    readonly endpoint?: string | undefined;
    readonly region?: string | undefined;
    readonly bucket?: string | undefined;
    readonly prefix?: string | undefined;
    readonly accessKeyId?: string | undefined;
    readonly secretAccessKey?: string | undefined;
  };
};

/** Reads the output of `inlet partner create` from a file, or from standard input for `-`. */
export async function readIssued(path: string): Promise<Issued> {
  const content = path === '-' ? await text(process.stdin) : await readFile(path, 'utf8').catch(() => null);
  if (content === null) throw wrongUse(`Cannot read ${path}.`, 'Use --from to pass the file that the operator sent.');
  const value = parse(content);
  if (value === null) {
    // Do not quote the content, because it contains keys.
    throw wrongUse(
      `${path} is not JSON with an api_key.`,
      'Pass the output of `inlet partner create --json` with --from.',
    );
  }
  const storage = objectIn(value, 'storage') ?? {};
  return {
    url: textIn(value, 'url'),
    apiKey: textIn(value, 'api_key'),
    userToken: textIn(value, 'user_token'),
    storage: {
      endpoint: textIn(storage, 'endpoint'),
      region: textIn(storage, 'region'),
      bucket: textIn(storage, 'bucket'),
      prefix: textIn(storage, 'prefix'),
      accessKeyId: textIn(storage, 'access_key_id'),
      secretAccessKey: textIn(storage, 'secret_access_key'),
    },
  };
}

function parse(content: string): object | null {
  try {
    const value: unknown = JSON.parse(content);
    return typeof value === 'object' && value !== null && textIn(value, 'api_key') !== undefined ? value : null;
  } catch {
    return null;
  }
}

function valueIn(value: object, name: string): unknown {
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function textIn(value: object, name: string): string | undefined {
  const found = valueIn(value, name);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

function objectIn(value: object, name: string): object | undefined {
  const found = valueIn(value, name);
  return typeof found === 'object' && found !== null ? found : undefined;
}

/**
 * Prompts for missing storage settings. Returns undefined if none are known and no prompt is possible, or if the bucket
 * name is empty.
 */
export async function askForStorage(known: Issued['storage']): Promise<StorageSettings | undefined> {
  const isKnown = Object.values(known).some((value) => value !== undefined);
  if (!isKnown && !canAsk()) return undefined;
  const bucket =
    known.bucket ??
    (await ask({
      what: 'Bucket',
      ...(isKnown ? {} : { question: 'Your bucket (leave empty to skip uploads)' }),
      flag: '--storage-bucket',
      ...(isKnown ? {} : { isOptional: true }),
    }));
  if (bucket === '') return undefined;
  const prefix = known.prefix ?? (await ask({ what: 'Prefix', flag: '--storage-prefix' }));
  const region = known.region ?? (await ask({ what: 'Region', flag: '--storage-region' }));
  const endpoint =
    known.endpoint ??
    (isKnown
      ? undefined
      : await ask({
          what: 'Storage endpoint',
          question: 'Storage endpoint (leave empty for AWS)',
          flag: '--storage-endpoint',
          isOptional: true,
        }));
  const accessKeyId = known.accessKeyId ?? (await ask({ what: 'Access key ID', flag: '--storage-access-key-id' }));
  const secretAccessKey =
    known.secretAccessKey ??
    (await ask({ what: 'Secret access key', flag: 'INLET_STORAGE_SECRET_ACCESS_KEY or --from', isSecret: true }));
  const where = endpoint === undefined || endpoint === '' ? {} : { endpoint };
  return { ...where, region, bucket, prefix, accessKeyId, secretAccessKey };
}
