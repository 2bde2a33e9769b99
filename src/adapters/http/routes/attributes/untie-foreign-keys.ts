import { z } from 'zod';
import type { OwnAttributeDeps } from '../../../../usecases/access/manage-own-access.ts';
import { attributeNotFound, invalidRequest } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { attributeExample, attributeRecord, attributeSchema } from '../../records/attribute.ts';
import { attributeParams, foreignKeyList } from '../../schemas.ts';

export const untieForeignKeys = defineRoute({
  id: 'untieForeignKeys',
  tag: 'imports',
  method: 'DELETE',
  path: '/v1/marketplace/attributes/:attribute_id/foreign-keys',
  scope: 'attributes:write',
  summary: 'Remove foreign keys from an attribute',
  description:
    'Removes the mapping of foreign keys. Rows with one of these keys are rejected by imports that have not started. Keys that are not mapped to this attribute are ignored.',
  params: attributeParams,
  body: z.strictObject({ foreign_keys: foreignKeyList.min(1) }).meta({ id: 'UntieForeignKeys' }),
  bodyExamples: { key: { summary: 'One foreign key', value: { foreign_keys: ['minigolf'] } } },
  response: {
    status: 200,
    description: 'The attribute with its remaining foreign keys.',
    schema: attributeSchema,
    example: attributeExample,
  },
  problems: {
    ...attributeNotFound,
    ...invalidRequest({ pointer: '/foreign_keys', detail: 'foreign_keys is required.' }),
  },
  handler: (deps: OwnAttributeDeps & IdempotencyDeps) => async (request, reply) => {
    const { attribute_id: id } = request.params;
    return attributeRecord(
      await deps.ownAttributes.untie(ownChangeOf(deps, request, reply), id, request.body.foreign_keys),
    );
  },
});
