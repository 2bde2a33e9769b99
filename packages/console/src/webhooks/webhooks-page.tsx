import type { Webhook } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { SecretDialog } from '../access/form-dialog.tsx';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty } from '../components/state.tsx';
import { formatCount } from '../format.ts';
import { signedIn } from '../session.ts';
import { HealthText, LastDelivery } from './health.tsx';
import { EditDialog } from './webhook-dialogs.tsx';
import './webhooks.css';

const refreshMs = 5_000;

const columns: readonly [Column<Webhook>, ...Column<Webhook>[]] = [
  {
    name: 'Webhook',
    cell: ({ webhook_id: id, url, description }) => (
      <div>
        <a href={`/console/webhooks/${id}`}>
          <GivenText text={url} />
        </a>
        <span class="small muted below">
          #{id}{' '}
          {description !== '' && (
            <>
              · <GivenText text={description} />
            </>
          )}
        </span>
      </div>
    ),
  },
  { name: 'Health', cell: (webhook) => <HealthText webhook={webhook} /> },
  { name: 'Waiting', isNumber: true, cell: ({ pending_events }) => formatCount(pending_events) },
  { name: 'Last delivered', cell: (webhook) => <LastDelivery webhook={webhook} /> },
  { name: 'Events', cell: ({ event_types }) => <span class="small">{event_types?.join(', ') ?? 'all'}</span> },
];

type Opened = { readonly kind: 'create' } | { readonly kind: 'secret'; readonly id: number; readonly secret: string };

export function WebhooksPage() {
  const { route } = useLocation();
  const [opened, setOpened] = useState<Opened | null>(null);
  const canUse = signedIn()?.scopes.includes('webhooks:write') ?? false;
  const close = (): void => setOpened(null);
  return (
    <Page
      title="Webhooks"
      sub={
        <>
          Your own endpoints, to which events are sent. All events are listed in the{' '}
          <a href="/console/events">event log</a>.
        </>
      }
      actions={
        canUse && (
          <button type="button" class="primary" onClick={() => setOpened({ kind: 'create' })}>
            Create a webhook
          </button>
        )
      }
    >
      {canUse ? (
        <PagedTable
          listKey="webhooks"
          caption="Webhooks"
          load={(page, signal) => api.listWebhooks({ query: page, signal })}
          rowKey={({ webhook_id }) => webhook_id}
          columns={columns}
          empty={
            <Empty title="No webhooks yet">
              <p>Create one to notify your program within a second when an import ends or an audience is ready.</p>
            </Empty>
          }
          refreshMs={refreshMs}
        />
      ) : (
        <div class="card">
          <Empty title="You do not have access">
            <p>
              Webhooks need the scope <code>webhooks:write</code>, which your sign-in does not have.
            </p>
          </Empty>
        </div>
      )}
      {opened?.kind === 'create' && (
        <EditDialog
          onDone={(made) => made && setOpened({ kind: 'secret', id: made.webhook_id, secret: made.secret })}
          onClose={close}
        />
      )}
      {opened?.kind === 'secret' && (
        <SecretDialog
          name="webhook secret"
          secret={opened.secret}
          onClose={() => route(`/console/webhooks/${opened.id}`)}
        />
      )}
    </Page>
  );
}
