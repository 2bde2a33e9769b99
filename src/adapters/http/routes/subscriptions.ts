import { z } from 'zod';
import { objectStates } from '../../../domain/subscription.ts';
import type { SubscriptionStore } from '../../../ports/subscription-store.ts';
import { requireSubscribedPrefix } from '../../../usecases/accept/subscriptions.ts';
import { partnerOf } from '../authentication.ts';
import { invalidPage, invalidRequest } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { pageOf, readCursor } from '../paging.ts';
import {
  createSubscriptionBody,
  createdSubscriptionSchema,
  subscriptionExample,
  subscriptionListSchema,
  subscriptionNotFound,
  subscriptionObjectExample,
  subscriptionObjectListSchema,
  subscriptionObjectRecord,
  subscriptionParams,
  subscriptionRecord,
  subscriptionSchema,
  toTrigger,
  updateSubscriptionBody,
} from '../records/subscription.ts';
import { pageQuery } from '../schemas.ts';

// The operations on subscriptions. A subscription belongs to the partner, so a user token is ignored, and a customer
// has no access.

export type SubscriptionDeps = { readonly subscriptions: SubscriptionStore };

type WriteDeps = SubscriptionDeps & IdempotencyDeps;

const reads = { tag: 'imports', scope: 'marketplace:read' } as const;
const writes = { tag: 'imports', scope: 'marketplace:write' } as const;
const invalidTrigger = invalidRequest({
  pointer: '/trigger',
  detail: 'Send exactly one of quiet_seconds, marker, every_seconds, and daily_at.',
});

export const createSubscription = defineRoute({
  ...writes,
  id: 'createSubscription',
  method: 'POST',
  path: '/v1/marketplace/subscriptions',
  summary: 'Create a subscription',
  description:
    'Imports the objects that arrive under a prefix of the shared bucket. Each object version (path, ETag, and size) is imported once, as part of an ordinary import that adds its rows to the existing data. The import log names the subscription.',
  body: createSubscriptionBody,
  bodyExamples: {
    quiet: {
      summary: 'Import when nothing has arrived for a minute',
      value: { prefix: 'daily/', key_type: 1, compressed: true, trigger: { quiet_seconds: 60 } },
    },
    marker: {
      summary: 'Import a folder when its marker arrives, and also the folders that already exist',
      value: {
        prefix: 'exports/',
        key_type: 1,
        compressed: false,
        existing: 'import',
        trigger: { marker: '_SUCCESS' },
      },
    },
    schedule: {
      summary: 'Import once a day at 02:30 UTC',
      value: { prefix: 'nightly/', key_type: 0, compressed: true, trigger: { daily_at: '02:30' } },
    },
  },
  response: {
    status: 201,
    description: 'The subscription is created.',
    schema: createdSubscriptionSchema,
    example: { subscription_id: 1 },
    location: '/v1/marketplace/subscriptions/1',
  },
  problems: {
    ...invalidTrigger,
    invalid_file_path: {
      detail: 'prefix contains a "." or ".." segment.',
      errors: [{ pointer: '/prefix', detail: 'prefix contains a "." or ".." segment.' }],
    },
  },
  handler: (deps: WriteDeps) => async (request, reply) => {
    const { prefix, key_type: keyType, compressed, existing, trigger } = request.body;
    const partner = partnerOf(request);
    requireSubscribedPrefix(partner, prefix);
    const id = await deps.subscriptions.create(
      partner.id,
      { prefix, keyType, compressed, skipsExisting: existing === 'skip', trigger: toTrigger(trigger) },
      idempotentRequestOf(deps, request, reply),
    );
    reply.code(201).header('location', `/v1/marketplace/subscriptions/${id}`);
    return { subscription_id: id };
  },
});

export const listSubscriptions = defineRoute({
  ...reads,
  id: 'listSubscriptions',
  method: 'GET',
  path: '/v1/marketplace/subscriptions',
  summary: 'List subscriptions',
  description: 'Lists your subscriptions, newest first.',
  query: pageQuery(100, 20),
  response: {
    status: 200,
    description: 'A page of subscriptions.',
    schema: subscriptionListSchema,
    example: [subscriptionExample],
    isPaged: true,
  },
  problems: invalidPage(100),
  handler: (deps: SubscriptionDeps) => async (request, reply) => {
    const { limit, cursor } = request.query;
    const [beforeId = Number.MAX_SAFE_INTEGER] = readCursor(cursor, 'subscriptions', 1);
    const items = await deps.subscriptions.list(partnerOf(request).id, { beforeId, limit: limit + 1 });
    return pageOf(request, reply, { list: 'subscriptions', limit, items }, ({ id }) => [id]).map(subscriptionRecord);
  },
});

export const getSubscription = defineRoute({
  ...reads,
  id: 'getSubscription',
  method: 'GET',
  path: '/v1/marketplace/subscriptions/:subscription_id',
  summary: 'Get a subscription',
  description: 'Returns a subscription and its state.',
  params: subscriptionParams,
  response: { status: 200, description: 'The subscription.', schema: subscriptionSchema, example: subscriptionExample },
  problems: subscriptionNotFound,
  handler: (deps: SubscriptionDeps) => async (request) =>
    subscriptionRecord(await deps.subscriptions.get(partnerOf(request).id, request.params.subscription_id)),
});

export const updateSubscription = defineRoute({
  ...writes,
  id: 'updateSubscription',
  method: 'PATCH',
  path: '/v1/marketplace/subscriptions/:subscription_id',
  summary: 'Change, pause, or resume a subscription',
  description:
    'Changes the fields that the request contains. The changes apply to the next import. To subscribe to another prefix, create another subscription.',
  params: subscriptionParams,
  body: updateSubscriptionBody,
  bodyExamples: {
    pause: { summary: 'Pause it', value: { paused: true } },
    trigger: { summary: 'Change the trigger', value: { trigger: { every_seconds: 3_600 } } },
  },
  response: {
    status: 200,
    description: 'The changed subscription.',
    schema: subscriptionSchema,
    example: subscriptionExample,
  },
  problems: { ...subscriptionNotFound, ...invalidTrigger },
  handler: (deps: WriteDeps) => async (request, reply) => {
    const { key_type: keyType, compressed, trigger, paused: isPaused } = request.body;
    const partnerId = partnerOf(request).id;
    const { subscription_id: id } = request.params;
    const changes = { keyType, compressed, trigger: trigger && toTrigger(trigger), isPaused };
    await deps.subscriptions.update(partnerId, id, changes, idempotentRequestOf(deps, request, reply));
    return subscriptionRecord(await deps.subscriptions.get(partnerId, id));
  },
});

export const deleteSubscription = defineRoute({
  ...writes,
  id: 'deleteSubscription',
  method: 'DELETE',
  path: '/v1/marketplace/subscriptions/:subscription_id',
  summary: 'Delete a subscription',
  description:
    'Deletes a subscription and the list of the versions that it has seen. Imports that it has queued still run. A new subscription to the same prefix does not know which objects were imported.',
  params: subscriptionParams,
  body: z.strictObject({}).nullish().meta({ id: 'DeleteSubscription' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: { status: 204, description: 'The subscription is deleted.' },
  problems: { ...subscriptionNotFound, ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }) },
  handler: (deps: WriteDeps) => async (request, reply) => {
    const idempotent = idempotentRequestOf(deps, request, reply);
    await deps.subscriptions.remove(partnerOf(request).id, request.params.subscription_id, idempotent);
    return reply.code(204).send();
  },
});

export const listSubscriptionObjects = defineRoute({
  ...reads,
  id: 'listSubscriptionObjects',
  method: 'GET',
  path: '/v1/marketplace/subscriptions/:subscription_id/objects',
  summary: 'List the objects of a subscription',
  description:
    'Lists the object versions that a subscription has seen and what became of them, newest first. A version that has not been in the storage for 90 days is no longer listed.',
  params: subscriptionParams,
  query: pageQuery(1000, 100).extend({
    state: z
      .enum(objectStates)
      .optional()
      .meta({ description: 'Lists only versions in this state.', examples: ['failed'] }),
  }),
  response: {
    status: 200,
    description: 'A page of object versions.',
    schema: subscriptionObjectListSchema,
    example: [subscriptionObjectExample],
    isPaged: true,
  },
  problems: { ...subscriptionNotFound, ...invalidPage(1000) },
  handler: (deps: SubscriptionDeps) => async (request, reply) => {
    const { limit, cursor, state } = request.query;
    const [beforeId = Number.MAX_SAFE_INTEGER] = readCursor(cursor, 'subscription-objects', 1);
    const page = { beforeId, limit: limit + 1, state };
    const items = await deps.subscriptions.listObjects(partnerOf(request).id, request.params.subscription_id, page);
    return pageOf(request, reply, { list: 'subscription-objects', limit, items }, ({ id }) => [id]).map(
      subscriptionObjectRecord,
    );
  },
});
