import type { Answered, Problem, Webhook } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { SecretDialog } from '../access/form-dialog.tsx';
import { api, noteExpiry, useApi } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { LoadingPage } from '../components/loading-page.tsx';
import { Fact, Page } from '../components/page.tsx';
import { Notice, ProblemNotice, Time } from '../components/state.tsx';
import { formatCount, formatExactTime } from '../format.ts';
import { Deliveries } from './deliveries.tsx';
import { HealthText, LastDelivery } from './health.tsx';
import { type Change, ChangeDialog, EditDialog, ReplayDialog, RotateDialog } from './webhook-dialogs.tsx';
import './webhooks.css';

const refreshMs = 3_000;

export function WebhookPage() {
  const { params } = useRoute();
  return <WebhookOf key={params['id']} id={Number(params['id'])} />;
}

type Opened = Change | 'edit' | 'rotate' | 'replay';

function WebhookOf({ id }: { readonly id: number }) {
  const { value, problem, reload } = useApi(`webhook ${id}`, (signal) => api.getWebhook(id, { signal }), { refreshMs });
  const { route } = useLocation();
  const [opened, setOpened] = useState<Opened | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const [done, setDone] = useState('');
  const [failed, setFailed] = useState<Problem | null>(null);
  const back = <a href="/console/webhooks">All webhooks</a>;
  if (!value) return <LoadingPage title={`Webhook ${id}`} back={back} problem={problem} onRetry={reload} />;
  const close = (): void => setOpened(null);
  const finish = (text: string): void => {
    close();
    setFailed(null);
    setDone(text);
    reload();
  };
  async function send<T>(call: Promise<Answered<T>>, textOf: (made: T) => string): Promise<void> {
    const result = await call;
    if (result.ok) return finish(textOf(result.value));
    noteExpiry(result.problem);
    setDone('');
    setFailed(result.problem);
  }
  return (
    <Page
      title={`Webhook ${id}`}
      sub={
        <>
          {back} · created <Time at={value.created_at} />
        </>
      }
      actions={
        <Actions
          webhook={value}
          onOpen={setOpened}
          onTest={() =>
            void send(api.testWebhook(id), ({ sequence }) => `Test event ${sequence} will be sent to this webhook.`)
          }
        />
      }
    >
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {failed && <ProblemNotice problem={failed} />}
      {done !== '' && <Notice kind="good">{done}</Notice>}
      <Summary webhook={value} />
      <Deliveries
        webhook={value}
        onReplay={(sequence) =>
          void send(api.replayEvents(id, { sequence }), () => `Event ${sequence} will be sent again.`)
        }
      />
      {opened === 'edit' && (
        <EditDialog webhook={value} onDone={() => finish('The webhook was changed.')} onClose={close} />
      )}
      {opened === 'replay' && (
        <ReplayDialog
          id={id}
          onDone={(after) => finish(`All events after event ${after} will be sent again.`)}
          onClose={close}
        />
      )}
      {opened === 'rotate' && (
        <RotateDialog
          id={id}
          onDone={(made) => {
            finish('');
            setSecret(made);
          }}
          onClose={close}
        />
      )}
      {(opened === 'enable' || opened === 'disable' || opened === 'delete') && (
        <ChangeDialog
          webhook={value}
          change={opened}
          onDone={() => (opened === 'delete' ? route('/console/webhooks') : finish(`The webhook was ${opened}d.`))}
          onClose={close}
        />
      )}
      {secret !== null && <SecretDialog name="webhook secret" secret={secret} onClose={() => setSecret(null)} />}
    </Page>
  );
}

type ActionsProps = {
  readonly webhook: Webhook;
  readonly onOpen: (opened: Opened) => void;
  readonly onTest: () => void;
};

/** Buttons for what the API would accept for the webhook in its state. */
function Actions({ webhook: { status }, onOpen, onTest }: ActionsProps) {
  const isDisabled = status === 'disabled';
  return (
    <>
      {isDisabled ? (
        <button type="button" class="primary" onClick={() => onOpen('enable')}>
          Enable …
        </button>
      ) : (
        <>
          <button type="button" class="primary" onClick={onTest}>
            Send a test event
          </button>
          <button type="button" onClick={() => onOpen('replay')}>
            Send events again …
          </button>
        </>
      )}
      <button type="button" onClick={() => onOpen('edit')}>
        Change …
      </button>
      <button type="button" onClick={() => onOpen('rotate')}>
        Rotate the secret …
      </button>
      {!isDisabled && (
        <button type="button" class="danger" onClick={() => onOpen('disable')}>
          Disable …
        </button>
      )}
      <button type="button" class="danger" onClick={() => onOpen('delete')}>
        Delete …
      </button>
    </>
  );
}

function Summary({ webhook }: { readonly webhook: Webhook }) {
  const { url, description, event_types, pending_events, old_secrets_expire_at } = webhook;
  return (
    <section class="card stack" aria-labelledby="health">
      <h2 id="health" class="visually-hidden">
        Health
      </h2>
      <div aria-live="polite">
        <HealthText webhook={webhook} />
      </div>
      <dl class="facts webhook">
        <Fact name="URL">
          <code>
            <GivenText text={url} />
          </code>
        </Fact>
        <Fact name="Events">{event_types?.join(', ') ?? 'All'}</Fact>
        <Fact name="Pending events">{formatCount(pending_events)}</Fact>
        <Fact name="Last delivered">
          <LastDelivery webhook={webhook} />
        </Fact>
        {old_secrets_expire_at !== null && (
          <Fact name="The old secret also signs until">{formatExactTime(old_secrets_expire_at)}</Fact>
        )}
        {description !== '' && (
          <Fact name="Description">
            <GivenText text={description} />
          </Fact>
        )}
      </dl>
    </section>
  );
}
