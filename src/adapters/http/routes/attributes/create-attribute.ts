import { z } from 'zod';
import { maxAttributeNameLength, maxForeignKeysPerRequest } from '../../../../domain/own-access.ts';
import { type OwnAttributeDeps, createOwnAttribute } from '../../../../usecases/access/manage-own-access.ts';
import { invalidRequest, ownQuota } from '../../documentation.ts';
import type { IdempotencyDeps } from '../../idempotency.ts';
import { defineRoute } from '../../operation.ts';
import { ownChangeOf } from '../../own-change.ts';
import { attributeExample, attributeRecord, attributeSchema } from '../../records/attribute.ts';
import { foreignKeyList } from '../../schemas.ts';

const body = z
  .strictObject({
    name: z
      .string()
      .max(4 * maxAttributeNameLength)
      .meta({
        description: `A unique name of 1 to ${maxAttributeNameLength} characters. Composition reports show it, including those of other partners.`,
      }),
    foreign_keys: foreignKeyList.default([]).meta({
      description: `Your own keys for the attribute, which files can contain instead of its ID. At most ${maxForeignKeysPerRequest}. Each key has 1 to 200 characters, without \`|\`, control characters, or spaces at the ends.`,
    }),
  })
  .meta({ id: 'CreateAttribute' });

export const createAttribute = defineRoute({
  id: 'createAttribute',
  tag: 'imports',
  method: 'POST',
  path: '/v1/marketplace/attributes',
  scope: 'attributes:write',
  summary: 'Create an attribute',
  description:
    'Creates an attribute that files and deletes can use at once. A foreign key that belongs to another attribute is rejected.',
  body,
  bodyExamples: {
    foreignKey: { summary: 'An attribute with a foreign key', value: { name: 'golf', foreign_keys: ['golf'] } },
  },
  response: {
    status: 201,
    description: 'The attribute is created.',
    schema: attributeSchema,
    example: attributeExample,
  },
  problems: {
    ...invalidRequest({ pointer: '/name', detail: 'name is required.' }),
    ...ownQuota('The quota attributes is 10000. 10000 are used.'),
  },
  handler: (deps: OwnAttributeDeps & IdempotencyDeps) => async (request, reply) => {
    const { name, foreign_keys: foreignKeys } = request.body;
    const made = await createOwnAttribute(deps, ownChangeOf(deps, request, reply), { name, foreignKeys });
    reply.code(201);
    return attributeRecord(made);
  },
});
