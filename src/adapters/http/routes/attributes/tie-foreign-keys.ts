import { z } from 'zod';
import { type OwnAttributeDeps, tieOwnForeignKeys } from '../../../../usecases/access/manage-own-access.ts';
import { attributeNotFound, invalidRequest, ownQuota } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { attributeExample, attributeRecord, attributeSchema } from '../../records/attribute.ts';
import { attributeParams, foreignKeyList } from '../../schemas.ts';

export const tieForeignKeys = defineRoute({
  id: 'tieForeignKeys',
  tag: 'imports',
  method: 'PUT',
  path: '/v1/marketplace/attributes/:attribute_id/foreign-keys',
  scope: 'attributes:write',
  summary: 'Add foreign keys to an attribute',
  description:
    'Maps foreign keys to an attribute. A key that is mapped to another of your attributes is moved, which affects imports that have not started.',
  params: attributeParams,
  body: z.strictObject({ foreign_keys: foreignKeyList.min(1) }).meta({ id: 'TieForeignKeys' }),
  bodyExamples: { key: { summary: 'One foreign key', value: { foreign_keys: ['minigolf'] } } },
  response: {
    status: 200,
    description: 'The attribute with all of its foreign keys.',
    schema: attributeSchema,
    example: { ...attributeExample, foreign_keys: ['golf', 'minigolf'] },
  },
  problems: {
    ...attributeNotFound,
    ...invalidRequest({ pointer: '/foreign_keys', detail: 'foreign_keys is required.' }),
    ...ownQuota('The quota foreign_keys is 100000. 100000 are used.'),
  },
  handler: (deps: OwnAttributeDeps & IdempotencyDeps) => async (request, reply) => {
    const { attribute_id: id } = request.params;
    return attributeRecord(
      await tieOwnForeignKeys(deps, ownChangeOf(deps, request, reply), id, request.body.foreign_keys),
    );
  },
});
