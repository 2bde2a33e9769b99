import {
  type CreatedWebhook,
  type SelectableEventType,
  type Webhook,
  isSelectableEventType,
  selectableEventTypes,
} from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import '../access/access.css';
import { Field, FormDialog } from '../access/form-dialog.tsx';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { formatCount } from '../format.ts';

type EditProps = {
  /** Absent to create a webhook. */
  readonly webhook?: Webhook;
  /** Gets the new webhook with its secret, or null after a change. */
  readonly onDone: (made: CreatedWebhook | null) => void;
  readonly onClose: () => void;
};

export function EditDialog({ webhook, onDone, onClose }: EditProps) {
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [types, setTypes] = useState<readonly SelectableEventType[] | null>(
    webhook?.event_types?.filter(isSelectableEventType) ?? null,
  );
  const body = { url, description, event_types: types };
  const fields = (
    <>
      <Field
        label="URL"
        value={url}
        onChange={setUrl}
        maxLength={2_000}
        hint="It starts with https:// and has a public address."
      />
      <Field
        label="Description"
        value={description}
        onChange={setDescription}
        maxLength={200}
        hint="A note for yourself."
        isOptional
      />
      <label class="check">
        <input
          type="checkbox"
          checked={types === null}
          onChange={({ currentTarget }) => setTypes(currentTarget.checked ? null : [])}
        />
        All events, including those added in later releases
      </label>
      {types && (
        <fieldset class="scopes">
          <legend>Only these events</legend>
          {selectableEventTypes.map((type) => (
            <label key={type}>
              <input
                type="checkbox"
                checked={types.includes(type)}
                onChange={({ currentTarget }) =>
                  setTypes(currentTarget.checked ? [...types, type] : types.filter((one) => one !== type))
                }
              />
              {type}
            </label>
          ))}
        </fieldset>
      )}
    </>
  );
  if (!webhook) {
    return (
      <FormDialog
        title="Create a webhook"
        submitText="Create the webhook"
        send={() => api.createWebhook(body)}
        onDone={onDone}
        onClose={onClose}
      >
        {fields}
      </FormDialog>
    );
  }
  return (
    <FormDialog
      title="Change the webhook"
      submitText="Save"
      send={() => api.updateWebhook(webhook.webhook_id, body)}
      onDone={() => onDone(null)}
      onClose={onClose}
    >
      {fields}
    </FormDialog>
  );
}

export type Change = 'disable' | 'enable' | 'delete';

type ChangeProps = {
  readonly webhook: Webhook;
  readonly change: Change;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

const changes = {
  disable: {
    title: 'Disable this webhook?',
    submitText: 'Disable the webhook',
    send: (id: number) => api.updateWebhook(id, { enabled: false }),
  },
  enable: {
    title: 'Enable this webhook?',
    submitText: 'Enable the webhook',
    send: (id: number) => api.updateWebhook(id, { enabled: true }),
  },
  delete: {
    title: 'Delete this webhook?',
    submitText: 'Delete the webhook',
    send: (id: number) => api.deleteWebhook(id),
  },
} as const;

export function ChangeDialog({ webhook, change, onDone, onClose }: ChangeProps) {
  const { title, submitText, send } = changes[change];
  const { webhook_id: id, url, pending_events: pending } = webhook;
  const waiting = `${formatCount(pending)} ${pending === 1 ? 'event is waiting' : 'events are waiting'}`;
  return (
    <FormDialog<unknown>
      title={title}
      submitText={submitText}
      isDangerous={change !== 'enable'}
      send={() => send(id)}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        <code>
          <GivenText text={url} />
        </code>
      </p>
      {change === 'disable' && <p>Nothing is sent until you enable it. Its events are kept for 30 days.</p>}
      {change === 'enable' && <p>It receives the events that it missed. {waiting}.</p>}
      {change === 'delete' && (
        <p>
          The webhook, its secret, and its delivery log are deleted. Events stay in the event log. This is permanent.
        </p>
      )}
    </FormDialog>
  );
}

type RotateProps = { readonly id: number; readonly onDone: (secret: string) => void; readonly onClose: () => void };

export function RotateDialog({ id, onDone, onClose }: RotateProps) {
  return (
    <FormDialog
      title="Rotate the secret?"
      submitText="Rotate the secret"
      send={() => api.rotateWebhookSecret(id)}
      onDone={({ secret }) => onDone(secret)}
      onClose={onClose}
    >
      <p>
        You get a new secret. For 24 hours, events are signed with the old secret, too, so that you can change your
        receiver in the meantime.
      </p>
    </FormDialog>
  );
}

type ReplayProps = { readonly id: number; readonly onDone: (after: number) => void; readonly onClose: () => void };

export function ReplayDialog({ id, onDone, onClose }: ReplayProps) {
  const [after, setAfter] = useState('');
  return (
    <FormDialog
      title="Send events again"
      submitText="Send them again"
      send={() => api.replayEvents(id, { after: Number(after) })}
      onDone={() => onDone(Number(after))}
      onClose={onClose}
    >
      <p>All events after this one are sent again, with the same webhook-id as before.</p>
      <Field
        label="Number of the last event that you received"
        isNumber
        value={after}
        onChange={setAfter}
        maxLength={15}
        hint="With 0, all events of the last 30 days are sent."
      />
    </FormDialog>
  );
}
