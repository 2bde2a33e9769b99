import type { Webhook, WebhookDelivery } from '@inlet/sdk/browser';
import { formatExactTime } from '../format.ts';

/** The health of a webhook in words, and the CSS class of its status mark. */
export type Health = {
  readonly kind: 'done' | 'waiting' | 'failed' | '';
  readonly title: string;
  /** An explanation of the state, or what happens next. */
  readonly note: string;
};

const disabledReasons = {
  request: 'Disabled by your account',
  gone: 'Disabled: the receiver responded with 410',
  failures: 'Disabled: nothing was delivered for 5 days',
} as const;

type State = Pick<Webhook, 'status' | 'failing_since' | 'disables_at' | 'paused_until' | 'disabled_reason'>;

function isPaused({ paused_until }: State, now: number): boolean {
  return paused_until !== null && Date.parse(paused_until) > now;
}

/** The parameter `now` is for tests. */
export function healthOf(webhook: State, now: number = Date.now()): Health {
  const { status, failing_since, disables_at, paused_until, disabled_reason } = webhook;
  if (status === 'disabled') {
    return {
      kind: disabled_reason === 'request' ? '' : 'failed',
      title: disabledReasons[disabled_reason ?? 'request'],
      note: 'Events are kept for 30 days. When you enable the webhook, it receives the events that it missed.',
    };
  }
  const paused = isPaused(webhook, now) && paused_until !== null ? `Paused until ${formatExactTime(paused_until)}` : '';
  if (failing_since !== null) {
    const next = paused ? `${paused}. Then one event is sent. ` : '';
    const end =
      disables_at === null
        ? ''
        : `It will be disabled on ${formatExactTime(disables_at)} if nothing is delivered until then.`;
    return { kind: 'failed', title: `Failing since ${formatExactTime(failing_since)}`, note: next + end };
  }
  if (paused) return { kind: 'waiting', title: paused, note: 'The receiver has asked for fewer requests.' };
  return { kind: 'done', title: 'Healthy', note: '' };
}

/** Says when the event is sent, unless that is at a known time in the future. */
export function describeNextAttempt(webhook: State, now: number = Date.now()): string {
  if (webhook.status === 'disabled') return 'when the webhook is enabled';
  return isPaused(webhook, now) ? 'after the pause' : 'now';
}

type Attempt = WebhookDelivery['attempts'][number];

const errorTexts = {
  timeout: 'No response within 15 seconds',
  address_refused: 'The address is not public',
  connection_failed: 'The connection failed',
} as const satisfies Record<NonNullable<Attempt['error']>, string>;

export function describeAttempt({ status, error }: Pick<Attempt, 'status' | 'error'>): string {
  if (status === null) return error === null ? 'No response' : errorTexts[error];
  if (status >= 300 && status < 400) return `HTTP ${status}: redirects are not followed`;
  if (status === 410) return 'HTTP 410: the webhook was disabled';
  return `HTTP ${status}`;
}

/** `31 ms`, `15.0 s` */
export function formatMilliseconds(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}

export const deliveryStatuses = {
  pending: { text: 'Waiting', kind: 'waiting' },
  delivered: { text: 'Delivered', kind: 'done' },
  failed: { text: 'Failed', kind: 'failed' },
} as const satisfies Record<WebhookDelivery['status'], object>;
