import { z } from 'zod';
import { maxAttributeNameLength } from '../../../../domain/own-access.ts';
import { type OwnAttributeDeps, renameOwnAttribute } from '../../../../usecases/access/manage-own-access.ts';
import { attributeNotFound, invalidRequest } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { attributeExample, attributeRecord, attributeSchema } from '../../records/attribute.ts';
import { attributeParams } from '../../schemas.ts';

export const renameAttribute = defineRoute({
  id: 'renameAttribute',
  tag: 'imports',
  method: 'PATCH',
  path: '/v1/marketplace/attributes/:attribute_id',
  scope: 'attributes:write',
  summary: 'Rename an attribute',
  description: 'Changes the name of an attribute. Its ID, foreign keys, and data do not change.',
  params: attributeParams,
  body: z
    .strictObject({
      name: z
        .string()
        .max(4 * maxAttributeNameLength)
        .meta({ description: `A unique name of 1 to ${maxAttributeNameLength} characters.` }),
    })
    .meta({ id: 'RenameAttribute' }),
  bodyExamples: { name: { summary: 'A new name', value: { name: 'golf and minigolf' } } },
  response: {
    status: 200,
    description: 'The attribute with its new name.',
    schema: attributeSchema,
    example: { ...attributeExample, name: 'golf and minigolf' },
  },
  problems: { ...attributeNotFound, ...invalidRequest({ pointer: '/name', detail: 'name is required.' }) },
  handler: (deps: OwnAttributeDeps & IdempotencyDeps) => async (request, reply) => {
    const { attribute_id: id } = request.params;
    return attributeRecord(await renameOwnAttribute(deps, ownChangeOf(deps, request, reply), id, request.body.name));
  },
});
