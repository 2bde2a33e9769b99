import type { AudienceScope } from '../../domain/audience.ts';
import { type CustomerShare, customerShare } from '../../domain/customer-share.ts';
import { Failure } from '../../domain/failure.ts';
import type { Limits } from '../../domain/limits.ts';
import type { Partner } from '../../domain/partner.ts';
import {
  type Part,
  type StoredPart,
  type Upload,
  maxOpenUploads,
  missingParts,
  partsOf,
  placeOfUpload,
  requireUploadSize,
  uploadHours,
  urlSeconds,
} from '../../domain/upload.ts';
import type { UploadTickets } from '../../ports/crypto.ts';
import type { UploadLog, UploadStorage } from '../../ports/upload-storage.ts';

export type UploadDeps = {
  readonly uploads: UploadStorage;
  readonly uploadLog: UploadLog;
  readonly uploadTickets: UploadTickets;
  readonly limits: Limits;
};

type Uploader = { readonly partner: Partner; readonly scope: AudienceScope };

type PartUrl = { readonly partNumber: number; readonly url: string };

export type OpenUpload = {
  readonly uploadId: string;
  readonly upload: Upload;
  readonly uploaded: readonly StoredPart[];
  /** The URLs of the missing parts. */
  readonly parts: readonly PartUrl[];
};

export async function startUpload(
  { uploads, uploadLog, uploadTickets, limits }: UploadDeps,
  { partner, scope }: Uploader,
  { filePath: path, bytes }: { readonly filePath: string; readonly bytes: number },
): Promise<OpenUpload> {
  const { filePath, key } = placeOfUpload(partner, scope, path);
  requireUploadSize(filePath, bytes, limits);
  const expiresAt = new Date(Date.now() + uploadHours * 3_600_000);
  const upload = { filePath, key, bytes, ...(await uploads.start(key)), expiresAt };
  const share = customerShare(scope, maxOpenUploads);
  if (!(await uploadLog.add(partner.id, upload, { atMost: maxOpenUploads, share }))) {
    await uploads.abort(upload);
    throw tooManyUploads(share);
  }
  return {
    uploadId: uploadTickets.issue(scope, upload),
    upload,
    uploaded: [],
    parts: await urlsOf(uploads, upload, partsOf(bytes)),
  };
}

function tooManyUploads(share: CustomerShare | null): Failure {
  const detail = share
    ? `The customer has ${share.most} open uploads, or its partner has ${maxOpenUploads}, which are the limits.`
    : `The partner has ${maxOpenUploads} open uploads, which is the limit.`;
  return new Failure('too_many_uploads', detail);
}

export async function getUpload(
  { uploads, uploadTickets }: UploadDeps,
  scope: AudienceScope,
  uploadId: string,
): Promise<OpenUpload> {
  const upload = requireUpload(uploadTickets, scope, uploadId);
  const uploaded = await uploads.listParts(upload);
  if (!uploaded) throw noSuchUpload();
  return { uploadId, upload, uploaded, parts: await urlsOf(uploads, upload, missingParts(upload.bytes, uploaded)) };
}

/** Completing an upload again has no effect, unless the object was replaced in the meantime. */
export async function completeUpload(
  { uploads, uploadLog, uploadTickets }: UploadDeps,
  scope: AudienceScope,
  uploadId: string,
): Promise<Upload> {
  const upload = requireUpload(uploadTickets, scope, uploadId);
  await complete(uploads, upload);
  await uploadLog.end(scope.partnerId, upload);
  return upload;
}

async function complete(uploads: UploadStorage, upload: Upload): Promise<void> {
  const stored = await uploads.listParts(upload);
  if (stored) {
    requireAllParts(upload, stored);
    if (await uploads.complete(upload, stored)) return;
  }
  if (!(await uploads.isStored(upload))) throw noSuchUpload();
}

export async function abortUpload(
  { uploads, uploadLog, uploadTickets }: UploadDeps,
  scope: AudienceScope,
  uploadId: string,
): Promise<void> {
  const upload = requireUpload(uploadTickets, scope, uploadId);
  await uploads.abort(upload);
  await uploadLog.end(scope.partnerId, upload);
}

function requireUpload(tickets: UploadTickets, scope: AudienceScope, uploadId: string): Upload {
  const upload = tickets.read(scope, uploadId);
  if (!upload || upload.expiresAt.getTime() <= Date.now()) throw noSuchUpload();
  return upload;
}

/** The message does not reveal which of the causes applies. */
function noSuchUpload(): Failure {
  return new Failure('not_found', 'The upload does not exist, has expired, or was aborted.');
}

function requireAllParts({ bytes }: Upload, stored: readonly StoredPart[]): void {
  const [first, ...others] = missingParts(bytes, stored);
  if (!first) return;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  throw new Failure('upload_incomplete', `Part ${first.partNumber}${more} of the upload is not stored.`);
}

async function urlsOf(uploads: UploadStorage, upload: Upload, parts: readonly Part[]): Promise<PartUrl[]> {
  const urls = await uploads.urlsOf(upload, parts, urlSeconds);
  return parts.flatMap(({ partNumber }, index) => {
    const url = urls[index];
    return url === undefined ? [] : [{ partNumber, url }];
  });
}
