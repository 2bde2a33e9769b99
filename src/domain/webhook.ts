import { type DisabledReason, type EventType, type LoggedEvent, eventTypes } from './event.ts';
import { Failure } from './failure.ts';
import type { PartnerId } from './ids.ts';
import { type Network, mayReach, parseAddress } from './network-address.ts';
import type { Secret } from './secret.ts';

export const maxUrlLength = 2_000;
export const maxDescriptionLength = 200;

/** After a rotation, deliveries are also signed with the old secret for this time. */
export const rotationHours = 24;
/** A secret is dropped before it expires if there are this many newer ones. */
export const maxSecrets = 5;

/** An endpoint of a partner to which events are sent. */
export type Webhook = {
  readonly id: number;
  readonly url: string;
  readonly description: string;
  /** Null for every type. */
  readonly eventTypes: readonly string[] | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly failingSince: Date | null;
  readonly pausedUntil: Date | null;
  readonly disabledAt: Date | null;
  readonly disabledReason: DisabledReason | null;
  /** Events that have not been sent yet. */
  readonly pendingEvents: number;
  /** Secrets that sign until they expire. */
  readonly oldSecretsExpireAt: Date | null;
};

export type WebhookStatus = 'enabled' | 'failing' | 'disabled';

export function webhookStatus({ disabledAt, failingSince }: Webhook): WebhookStatus {
  if (disabledAt) return 'disabled';
  return failingSince ? 'failing' : 'enabled';
}

/** The addresses that webhooks can have. Except in development, only public addresses with HTTPS are allowed. */
export type WebhookAddresses = { readonly allowsHttp: boolean; readonly networks: readonly Network[] };

/**
 * Checks the text of an address. A name is checked again each time it is resolved, because it can resolve to another
 * address at any time.
 */
export function toWebhookUrl(text: string, { allowsHttp, networks }: WebhookAddresses): string {
  const reject = (detail: string): Failure =>
    new Failure('invalid_request', 'The URL of a webhook is invalid.', { fields: [{ pointer: '/url', detail }] });
  if (text.length > maxUrlLength) throw reject(`url must have at most ${maxUrlLength} characters.`);
  const url = URL.parse(text);
  if (url === null) throw reject('url is not a URL.');
  if (url.protocol !== 'https:' && !(allowsHttp && url.protocol === 'http:'))
    throw reject('url must start with https://.');
  if (url.username !== '' || url.password !== '') throw reject('url must not contain a user name or a password.');
  if (url.hash !== '') throw reject('url must not contain a fragment.');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (parseAddress(host) !== null && !mayReach(host, networks)) throw reject('url must have a public address.');
  return url.href;
}

/** A response with a status other than 2xx, or no response at all, is a failure. */
export type AttemptResult = {
  readonly at: Date;
  readonly milliseconds: number;
  /** The status of the response. Null if there was none. */
  readonly status: number | null;
  /** Why there was no response, or null. */
  readonly error: AttemptError | null;
  readonly retryAfterSeconds: number | null;
};

export const attemptErrors = ['timeout', 'address_refused', 'connection_failed'] as const;
export type AttemptError = (typeof attemptErrors)[number];

/** An attempt to send an event, as it is stored and shown. */
type Attempt = Omit<AttemptResult, 'retryAfterSeconds'>;

/** Older attempts are dropped. A schedule has ten, and each replay starts another one. */
export const maxAttemptsShown = 20;

export const deliveryStatuses = ['pending', 'delivered', 'failed'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** An event that was sent to a webhook, or that is sent again. */
export type Delivery = {
  readonly sequence: number;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  readonly isReplay: boolean;
  readonly attempts: readonly Attempt[];
  readonly nextAttemptAt: Date | null;
  readonly deliveredAt: Date | null;
  readonly createdAt: Date;
};

/** Why an event is sent: for the first time, again after a failure, or again at the partner's request. */
type SendReason = 'first' | 'retry' | 'replay';

export type DueDelivery = {
  readonly event: LoggedEvent;
  readonly reason: SendReason;
  readonly isReplay: boolean;
  /** Number of earlier attempts in the current schedule. */
  readonly tries: number;
};

/** What a worker needs to send events to a webhook. */
export type SendTarget = {
  readonly webhookId: number;
  readonly partnerId: PartnerId;
  readonly url: string;
  /** Every secret that signs, newest first. */
  readonly secrets: readonly Secret[];
};

/** Whether the event is for a webhook. A test is only for the webhook that it tests. */
export function isFor(
  event: LoggedEvent,
  webhook: { readonly id: number; readonly eventTypes: readonly string[] | null },
) {
  if (event.type === 'webhook.test') return event.data.webhookId === webhook.id;
  return webhook.eventTypes === null || webhook.eventTypes.includes(event.type);
}

/** Types that a webhook can select. Every webhook gets its own tests. */
export const selectableTypes = eventTypes.filter(
  (type): type is Exclude<EventType, 'webhook.test'> => type !== 'webhook.test',
);
