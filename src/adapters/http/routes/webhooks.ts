import { z } from 'zod';
import { eventDays } from '../../../domain/event.ts';
import { type WebhookAddresses, deliveryStatuses, rotationHours, toWebhookUrl } from '../../../domain/webhook.ts';
import type { WebhookSecrets } from '../../../ports/crypto.ts';
import type { WebhookStore } from '../../../ports/webhook-store.ts';
import { partnerOf } from '../authentication.ts';
import { invalidPage, invalidRequest } from '../documentation.ts';
import { type IdempotencyDeps, idempotentRequestOf } from '../idempotency.ts';
import { defineRoute } from '../operation.ts';
import { pageOf, readCursor } from '../paging.ts';
import {
  createWebhookBody,
  createdWebhookSchema,
  deliveryExample,
  deliveryListSchema,
  deliveryRecord,
  replayBody,
  secretExample,
  updateWebhookBody,
  webhookExample,
  webhookNotFound,
  webhookParams,
  webhookRecord,
  webhookSchema,
  webhookSecretSchema,
} from '../records/webhook.ts';
import { pageQuery } from '../schemas.ts';

// The operations on webhooks. A webhook belongs to the partner, so a user token is ignored, and a customer has no
// access.

export type WebhookDeps = {
  readonly webhooks: WebhookStore;
  readonly webhookSecrets: WebhookSecrets;
  readonly webhookAddresses: WebhookAddresses;
  /** Multiplies the delays between attempts. */
  readonly webhookTimeScale: number;
};

type WriteDeps = WebhookDeps & IdempotencyDeps;

/** Many clients send an empty object with every request. */
const emptyBody = (id: string) => z.strictObject({}).nullish().meta({ id });
const nothing = { nothing: { summary: 'An empty body (optional)', value: {} } } as const;
const unknownField = invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' });
const invalidUrl = invalidRequest({ pointer: '/url', detail: 'url must start with https://.' });
const disabled = { webhook_disabled: { detail: 'Webhook 1 is disabled.' } } as const;

const shared = { tag: 'webhooks', scope: 'webhooks:write' } as const;

export const createWebhook = defineRoute({
  ...shared,
  id: 'createWebhook',
  method: 'POST',
  path: '/v1/webhooks',
  summary: 'Create a webhook',
  description:
    'Creates an endpoint to which events are sent as POST requests, signed as in Standard Webhooks. It gets the events that are logged from now on. The response contains the secret, which is not shown again.',
  body: createWebhookBody,
  bodyExamples: {
    all: { summary: 'All events', value: { url: 'https://example.com/hooks/inlet' } },
    some: {
      summary: 'Events of imports',
      value: {
        url: 'https://example.com/hooks/inlet',
        description: 'Production',
        event_types: ['import.finished', 'import.failed'],
      },
    },
  },
  response: {
    status: 201,
    description: 'The webhook and its secret.',
    schema: createdWebhookSchema,
    example: { webhook_id: 1, secret: secretExample },
    location: '/v1/webhooks/1',
  },
  problems: invalidUrl,
  handler: (deps: WriteDeps) => async (request, reply) => {
    const { url, description, event_types: eventTypes } = request.body;
    const fields = { url: toWebhookUrl(url, deps.webhookAddresses), description, eventTypes };
    const idempotent = idempotentRequestOf(deps, request, reply);
    const secret = deps.webhookSecrets.issue();
    const created = await deps.webhooks.create(partnerOf(request).id, fields, secret, idempotent);
    reply.code(201).header('location', `/v1/webhooks/${created.id}`);
    return { webhook_id: created.id, secret: created.secret.reveal() };
  },
});

export const listWebhooks = defineRoute({
  ...shared,
  id: 'listWebhooks',
  method: 'GET',
  path: '/v1/webhooks',
  summary: 'List webhooks',
  description: 'Lists your webhooks, newest first.',
  query: pageQuery(100, 100),
  response: {
    status: 200,
    description: 'A page of webhooks.',
    schema: z.array(webhookSchema),
    example: [webhookExample],
    isPaged: true,
  },
  problems: invalidPage(100),
  handler: (deps: WebhookDeps) => async (request, reply) => {
    const { limit, cursor } = request.query;
    const [beforeId = Number.MAX_SAFE_INTEGER] = readCursor(cursor, 'webhooks', 1);
    const items = await deps.webhooks.list(partnerOf(request).id, { beforeId, limit: limit + 1 });
    return pageOf(request, reply, { list: 'webhooks', limit, items }, ({ id }) => [id]).map((webhook) =>
      webhookRecord(webhook, deps.webhookTimeScale),
    );
  },
});

export const getWebhook = defineRoute({
  ...shared,
  id: 'getWebhook',
  method: 'GET',
  path: '/v1/webhooks/:webhook_id',
  summary: 'Get a webhook',
  description: 'Returns a webhook and its state. The secret is not shown.',
  params: webhookParams,
  response: { status: 200, description: 'The webhook.', schema: webhookSchema, example: webhookExample },
  problems: webhookNotFound,
  handler: (deps: WebhookDeps) => async (request) =>
    webhookRecord(await deps.webhooks.get(partnerOf(request).id, request.params.webhook_id), deps.webhookTimeScale),
});

export const updateWebhook = defineRoute({
  ...shared,
  id: 'updateWebhook',
  method: 'PATCH',
  path: '/v1/webhooks/:webhook_id',
  summary: 'Change a webhook',
  description:
    'Changes the fields that the request contains, and enables or disables the webhook. While a webhook is disabled, events are kept. When it is enabled, it gets all events that it has missed, except those that have been deleted.',
  params: webhookParams,
  body: updateWebhookBody,
  bodyExamples: {
    enable: { summary: 'Enable it', value: { enabled: true } },
    move: { summary: 'Change the URL', value: { url: 'https://example.com/hooks/inlet-2' } },
  },
  response: { status: 200, description: 'The changed webhook.', schema: webhookSchema, example: webhookExample },
  problems: { ...webhookNotFound, ...invalidUrl },
  handler: (deps: WriteDeps) => async (request, reply) => {
    const { url, description, event_types: eventTypes, enabled: isEnabled } = request.body;
    const partnerId = partnerOf(request).id;
    const { webhook_id: id } = request.params;
    const changes = {
      url: url === undefined ? undefined : toWebhookUrl(url, deps.webhookAddresses),
      description,
      eventTypes,
      isEnabled,
    };
    await deps.webhooks.update(partnerId, id, changes, idempotentRequestOf(deps, request, reply));
    return webhookRecord(await deps.webhooks.get(partnerId, id), deps.webhookTimeScale);
  },
});

export const deleteWebhook = defineRoute({
  ...shared,
  id: 'deleteWebhook',
  method: 'DELETE',
  path: '/v1/webhooks/:webhook_id',
  summary: 'Delete a webhook',
  description: 'Deletes a webhook and its delivery log. Deliveries in progress can still arrive.',
  params: webhookParams,
  body: emptyBody('DeleteWebhook'),
  bodyExamples: nothing,
  response: { status: 204, description: 'The webhook is deleted.' },
  problems: { ...webhookNotFound, ...unknownField },
  handler: (deps: WriteDeps) => async (request, reply) => {
    const idempotent = idempotentRequestOf(deps, request, reply);
    await deps.webhooks.remove(partnerOf(request).id, request.params.webhook_id, idempotent);
    return reply.code(204).send();
  },
});

export const rotateWebhookSecret = defineRoute({
  ...shared,
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: '/v1/webhooks/:webhook_id/rotate',
  summary: 'Rotate the secret of a webhook',
  description: `Creates a new secret and returns it once. For ${rotationHours} hours, every event is also signed with the old secret.`,
  params: webhookParams,
  body: emptyBody('RotateWebhookSecret'),
  bodyExamples: nothing,
  response: {
    status: 200,
    description: 'The new secret.',
    schema: webhookSecretSchema,
    example: { secret: secretExample },
  },
  problems: { ...webhookNotFound, ...unknownField },
  handler: (deps: WriteDeps) => async (request, reply) => {
    const idempotent = idempotentRequestOf(deps, request, reply);
    const { webhook_id: id } = request.params;
    const secret = await deps.webhooks.rotate(partnerOf(request).id, id, deps.webhookSecrets.issue(), idempotent);
    return { secret: secret.reveal() };
  },
});

export const testWebhook = defineRoute({
  ...shared,
  id: 'testWebhook',
  method: 'POST',
  path: '/v1/webhooks/:webhook_id/test',
  summary: 'Send a test event',
  description: 'Logs the event `webhook.test`, which is sent only to this webhook. The delivery log shows the result.',
  params: webhookParams,
  body: emptyBody('TestWebhook'),
  bodyExamples: nothing,
  response: {
    status: 202,
    description: 'The event is logged.',
    schema: z.object({ sequence: z.int() }).meta({ id: 'LoggedTest' }),
    example: { sequence: 43 },
  },
  problems: { ...webhookNotFound, ...unknownField, ...disabled },
  handler: (deps: WriteDeps) => async (request, reply) => {
    const idempotent = idempotentRequestOf(deps, request, reply);
    const sequence = await deps.webhooks.test(partnerOf(request).id, request.params.webhook_id, idempotent);
    reply.code(202);
    return { sequence };
  },
});

export const listWebhookDeliveries = defineRoute({
  ...shared,
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: '/v1/webhooks/:webhook_id/deliveries',
  summary: 'List the deliveries of a webhook',
  description: `Lists the events that were sent to a webhook in the last ${eventDays} days, newest first, with their attempts. Events that have not been sent yet are not listed.`,
  params: webhookParams,
  query: pageQuery(1000, 100).extend({
    status: z
      .enum(deliveryStatuses)
      .optional()
      .meta({ description: 'Lists only deliveries with this status.', examples: ['failed'] }),
  }),
  response: {
    status: 200,
    description: 'A page of deliveries.',
    schema: deliveryListSchema,
    example: [deliveryExample],
    isPaged: true,
  },
  problems: { ...webhookNotFound, ...invalidPage(1000) },
  handler: (deps: WebhookDeps) => async (request, reply) => {
    const { limit, cursor, status } = request.query;
    const [beforeSequence = Number.MAX_SAFE_INTEGER] = readCursor(cursor, 'deliveries', 1);
    const items = await deps.webhooks.listDeliveries(partnerOf(request).id, request.params.webhook_id, {
      beforeSequence,
      limit: limit + 1,
      statuses: status && [status],
    });
    return pageOf(request, reply, { list: 'deliveries', limit, items }, ({ sequence }) => [sequence]).map(
      deliveryRecord,
    );
  },
});

export const replayEvents = defineRoute({
  ...shared,
  id: 'replayEvents',
  method: 'POST',
  path: '/v1/webhooks/:webhook_id/replay',
  summary: 'Send events again',
  description:
    'Sends one event again, or all events after a sequence number. Each event keeps its `webhook-id`. New events are sent first. A failed replay is retried like any other event, but it does not cause the webhook to be disabled.',
  params: webhookParams,
  body: replayBody,
  bodyExamples: {
    one: { summary: 'One event', value: { sequence: 42 } },
    all: { summary: 'All events after event 41', value: { after: 41 } },
  },
  response: { status: 204, description: 'The events will be sent again.' },
  problems: {
    ...webhookNotFound,
    ...unknownField,
    ...disabled,
    event_not_replayable: { detail: 'Webhook 1 cannot get event 42 again.' },
  },
  handler: (deps: WriteDeps) => async (request, reply) => {
    const idempotent = idempotentRequestOf(deps, request, reply);
    const partnerId = partnerOf(request).id;
    const { webhook_id: id } = request.params;
    const { sequence, after } = request.body;
    if (sequence !== undefined) await deps.webhooks.replayEvent(partnerId, id, sequence, idempotent);
    else await deps.webhooks.replayAfter(partnerId, id, after ?? 0, idempotent);
    return reply.code(204).send();
  },
});
