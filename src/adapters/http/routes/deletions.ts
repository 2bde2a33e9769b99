import { Failure } from '../../../domain/failure.ts';
import type { ErasureStore } from '../../../ports/erasure.ts';
import {
  getDeletion as get,
  getDeletionProof as getProof,
  requestDeletion as requestErasure,
} from '../../../usecases/privacy/request-erasure.ts';
import { callerOf, partnerOf } from '../authentication.ts';
import { prefersCsv } from '../csv.ts';
import { invalidFilePath, invalidPage, invalidRequest } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { deletionListQuery } from '../list-filters.ts';
import { defineRoute } from '../operation.ts';
import { pageOf, readCursor } from '../paging.ts';
import {
  deletionExample,
  deletionListSchema,
  deletionNotFound,
  deletionParams,
  deletionRecord,
  deletionSchema,
  proofCsvExample,
  proofExample,
  proofRecord,
  proofSchema,
  requestDeletionBody,
  requestedDeletionSchema,
} from '../records/deletion.ts';

// The operations on deletions of devices. A deletion belongs to the partner, so a user token is ignored, and a customer
// has no access.

export type DeletionDeps = { readonly erasures: ErasureStore };

const shared = { tag: 'privacy', scope: 'privacy:write' } as const;

export const requestDeletion = defineRoute({
  ...shared,
  id: 'requestDeletion',
  method: 'POST',
  path: '/v1/privacy/deletions',
  summary: 'Delete devices',
  description:
    'Physically and permanently removes every row of these devices from your attributes, audiences, and rejected lines, and proves it. Devices of other partners are not affected. Workers delete in the background. The device IDs are stored encrypted until then. A file that is imported later can contain the devices again.',
  body: requestDeletionBody,
  bodyExamples: {
    ids: { summary: 'Up to 1,000 device IDs', value: { ids: ['a3f1c2d4-5678-90ab-cdef-1234567890ab'] } },
    file: { summary: 'A file of device IDs', value: { file_path: 'deletions/2026-11-15.csv' } },
  },
  response: {
    status: 202,
    description: 'The deletion.',
    schema: requestedDeletionSchema,
    example: { deletion_id: 5 },
    location: '/v1/privacy/deletions/5',
  },
  problems: {
    ...invalidRequest({ pointer: '/ids', detail: 'Send either ids or file_path.' }),
    ...invalidFilePath,
    too_many_open_jobs: { detail: 'The partner has 100 open deletions, which is the limit.' },
  },
  handler: (deps: DeletionDeps & IdempotencyDeps) => async (request, reply) => {
    const { ids, file_path: filePath } = request.body;
    if ((ids === undefined) === (filePath === undefined)) {
      const detail = 'Send either ids or file_path.';
      throw new Failure('invalid_request', detail, { fields: [{ pointer: '/ids', detail }] });
    }
    const idempotent = idempotentRequestOf(deps, request, reply);
    const list = ids === undefined ? { filePath: filePath ?? '' } : { ids };
    const id = await requestErasure(deps, callerOf(request), list, idempotent);
    reply.code(202).header('location', `/v1/privacy/deletions/${id}`);
    return { deletion_id: id };
  },
});

export const listDeletions = defineRoute({
  ...shared,
  id: 'listDeletions',
  method: 'GET',
  path: '/v1/privacy/deletions',
  summary: 'List deletions',
  description:
    'Lists your deletions of devices, newest first. `created_from` and `created_to` apply to `requested_at`.',
  query: deletionListQuery,
  response: {
    status: 200,
    description: 'A page of deletions.',
    schema: deletionListSchema,
    example: [deletionExample],
    isPaged: true,
  },
  problems: invalidPage(100),
  handler: (deps: DeletionDeps) => async (request, reply) => {
    const { limit, cursor, status: statuses, created_from: createdFrom, created_to: createdTo } = request.query;
    const [beforeId = Number.MAX_SAFE_INTEGER] = readCursor(cursor, 'deletions', 1);
    const filter = { statuses, createdFrom, createdTo };
    const items = await deps.erasures.list(partnerOf(request).id, { beforeId, limit: limit + 1, filter });
    return pageOf(request, reply, { list: 'deletions', limit, items }, ({ id }) => [id]).map(deletionRecord);
  },
});

export const getDeletion = defineRoute({
  ...shared,
  id: 'getDeletion',
  method: 'GET',
  path: '/v1/privacy/deletions/:deletion_id',
  summary: 'Get a deletion',
  description:
    'Returns the status of a deletion. It is done when no replica has a row of the devices and the files of replaced data are removed from disk, which takes about ten minutes.',
  params: deletionParams,
  response: { status: 200, description: 'The deletion.', schema: deletionSchema, example: deletionExample },
  problems: deletionNotFound,
  handler: (deps: DeletionDeps) => async (request) =>
    deletionRecord(await get(deps, partnerOf(request), request.params.deletion_id)),
});

export const getDeletionProof = defineRoute({
  ...shared,
  id: 'getDeletionProof',
  method: 'GET',
  path: '/v1/privacy/deletions/:deletion_id/proof',
  summary: 'Get the proof of a deletion',
  description:
    'Returns how many rows were removed from each table and shard, and how many were left on each replica. The proof is signed. Send `Accept: text/csv` for the counts as CSV, whose digest is part of the signed proof.',
  params: deletionParams,
  response: {
    status: 200,
    description: 'The proof.',
    schema: proofSchema,
    example: proofExample,
    csv: proofCsvExample,
  },
  problems: { not_found: { detail: 'Deletion 5 has no proof yet.' } },
  handler: (deps: DeletionDeps) => async (request, reply) => {
    const { proof, csv } = await getProof(deps, partnerOf(request), request.params.deletion_id);
    // These are exactly the bytes whose digest is signed.
    if (prefersCsv(request.headers.accept)) return reply.header('content-type', 'text/csv; charset=utf-8').send(csv);
    return proofRecord(proof);
  },
});
