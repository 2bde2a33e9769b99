import type { IdempotentRequest } from '../domain/idempotency.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { Secret } from '../domain/secret.ts';
import type { AttemptResult, Delivery, DeliveryStatus, DueDelivery, SendTarget, Webhook } from '../domain/webhook.ts';
import type { Health } from '../domain/webhook-schedule.ts';

export type WebhookFields = {
  readonly url: string;
  readonly description: string;
  /** Null for every type. */
  readonly eventTypes: readonly string[] | null;
};

export type WebhookChanges = { readonly [Name in keyof WebhookFields]?: WebhookFields[Name] | undefined } & {
  readonly isEnabled?: boolean | undefined;
};

export type DeliveryPage = {
  readonly beforeSequence: number;
  readonly limit: number;
  readonly statuses: readonly DeliveryStatus[] | undefined;
};

/** Partners' webhooks. Every method throws `not_found` for a webhook that the partner does not have. */
export interface WebhookStore {
  /** A repeated request with the same idempotency key returns the same secret. */
  create(
    partnerId: PartnerId,
    fields: WebhookFields,
    secret: Secret,
    idempotency: IdempotentRequest | null,
  ): Promise<{ readonly id: number; readonly secret: Secret }>;
  list(partnerId: PartnerId, page: { readonly beforeId: number; readonly limit: number }): Promise<readonly Webhook[]>;
  get(partnerId: PartnerId, id: number): Promise<Webhook>;
  update(
    partnerId: PartnerId,
    id: number,
    changes: WebhookChanges,
    idempotency: IdempotentRequest | null,
  ): Promise<void>;
  remove(partnerId: PartnerId, id: number, idempotency: IdempotentRequest | null): Promise<void>;
  /** Adds a secret. Events are also signed with the older ones for another day. */
  rotate(partnerId: PartnerId, id: number, secret: Secret, idempotency: IdempotentRequest | null): Promise<Secret>;
  /** Logs a test event for this webhook and returns its sequence number. Throws if the webhook is disabled. */
  test(partnerId: PartnerId, id: number, idempotency: IdempotentRequest | null): Promise<number>;
  /** Newest first. */
  listDeliveries(partnerId: PartnerId, id: number, page: DeliveryPage): Promise<readonly Delivery[]>;
  /**
   * Sends one event again. Throws if the event does not exist or is not for this webhook, or if the webhook is
   * disabled.
   */
  replayEvent(partnerId: PartnerId, id: number, sequence: number, idempotency: IdempotentRequest | null): Promise<void>;
  /** Sends all events after a sequence number again. */
  replayAfter(partnerId: PartnerId, id: number, after: number, idempotency: IdempotentRequest | null): Promise<void>;
}

/** The right to send events to a webhook. A later claim ends it. */
export type WebhookClaim = { readonly webhookId: number; readonly claim: number };

/** Events that are due for a webhook, and the positions that are reached when they are recorded. */
export type DueEvents = {
  readonly target: SendTarget;
  readonly health: Health;
  readonly deliveries: readonly DueDelivery[];
  readonly position: number;
  readonly replayPosition: { readonly from: number; readonly to: number };
  /** Whether a position differs from the recorded one. */
  readonly hasMoved: boolean;
};

export type AttemptedDelivery = {
  readonly delivery: DueDelivery;
  readonly result: AttemptResult;
  /** Null if the event was delivered or the schedule has ended. */
  readonly nextAttemptAt: Date | null;
};

export type AttemptRecord = {
  readonly due: Pick<DueEvents, 'position' | 'replayPosition'>;
  readonly attempts: readonly AttemptedDelivery[];
  readonly health: Health;
  /** Whether to log that the webhook will be disabled. */
  readonly warns: boolean;
};

/** The webhooks to which workers send events. */
export interface WebhookQueue {
  /** Claims webhooks with due events: failing and `slow` ones, or the others. A claim without a record expires after the lease. */
  claim(which: {
    readonly limit: number;
    readonly areFailing: boolean;
    readonly slow: readonly number[];
    readonly leaseSeconds: number;
  }): Promise<readonly WebhookClaim[]>;
  /** Returns null if the claim was lost, or the webhook was disabled or deleted. */
  findDue(
    claim: WebhookClaim,
    limits: { readonly healthy: number; readonly failing: number },
  ): Promise<DueEvents | null>;
  /** Records attempts and extends the claim. Returns false, and records nothing, if the claim was lost. */
  record(claim: WebhookClaim, attempted: AttemptRecord, leaseSeconds: number): Promise<boolean>;
  /** Releases the claim. `pauseSeconds` postpones the next claim. */
  release(claim: WebhookClaim, pauseSeconds: number): Promise<void>;
}

/** Sends one event to a receiver. Never rejects. */
export interface WebhookSender {
  send(target: SendTarget, delivery: DueDelivery): Promise<AttemptResult>;
}
