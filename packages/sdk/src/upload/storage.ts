import { readAddress } from '../read-address.ts';
import { Secret } from '../secret.ts';

/** As `inlet partner create` gives it out, and where the storage is. */
export type StorageSettings = {
  /** Absent for AWS itself. As `url` of the api: `https://…`; `http://` on this machine only, unless `allowHttp` is set. */
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** The one that was issued: `<partner>/`. */
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
};

export type Storage = {
  /** Of the bucket, without a slash at the end. */
  readonly url: URL;
  readonly region: string;
  readonly prefix: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
};

export function readStorage(settings: StorageSettings, allowHttp: boolean): Storage {
  const { endpoint, region, bucket, prefix, accessKeyId } = settings;
  for (const [name, value] of Object.entries({ region, bucket, accessKeyId })) {
    if (!/^[\x21-\x7e]+$/.test(value) || value.includes('/')) throw new TypeError(`storage.${name} is not valid`);
  }
  const address =
    endpoint === undefined
      ? addressAtAws(bucket, region)
      : `${readAddress(endpoint, { name: 'storage.endpoint', sent: 'the files', allowHttp })}/${bucket}`;
  const url = URL.parse(address);
  if (url === null) throw new TypeError('storage.bucket cannot be part of an address');
  return { url, region, prefix, accessKeyId, secretAccessKey: new Secret(settings.secretAccessKey, 'secretAccessKey') };
}

/** A dot in the bucket's name does not fit the certificate of `<bucket>.s3.…`. */
function addressAtAws(bucket: string, region: string): string {
  const host = `s3.${region}.amazonaws.com`;
  return bucket.includes('.') ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}
