import { z } from 'zod';
import type { OwnAttributeDeps } from '../../../../usecases/access/manage-own-access.ts';
import { attributeNotFound, invalidRequest } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { attributeExample, attributeRecord, attributeSchema } from '../../records/attribute.ts';
import { attributeParams } from '../../schemas.ts';

export const retireAttribute = defineRoute({
  id: 'retireAttribute',
  tag: 'imports',
  method: 'POST',
  path: '/v1/marketplace/attributes/:attribute_id/retire',
  scope: 'attributes:write',
  summary: 'Retire an attribute',
  description:
    'Permanently stops imports for an attribute. Rows with one of its keys are rejected with the reason `retired_key`. Its data stays until you delete it, and its name and foreign keys stay in use. Retiring it again changes nothing.',
  params: attributeParams,
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'RetireAttribute' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: {
    status: 200,
    description: 'The retired attribute.',
    schema: attributeSchema,
    example: { ...attributeExample, retired: true },
  },
  problems: { ...attributeNotFound, ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }) },
  handler: (deps: OwnAttributeDeps & IdempotencyDeps) => async (request, reply) =>
    attributeRecord(await deps.ownAttributes.retire(ownChangeOf(deps, request, reply), request.params.attribute_id)),
});
