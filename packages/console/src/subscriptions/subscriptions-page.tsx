import type { Subscription } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import '../components/lists.css';
import { Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, Time } from '../components/state.tsx';
import { formatCount } from '../format.ts';
import { signedIn } from '../session.ts';
import { describeTrigger, stateOf } from './describe-subscription.ts';
import { EditDialog } from './subscription-dialogs.tsx';

const refreshMs = 3_000;

const columns: readonly [Column<Subscription>, ...Column<Subscription>[]] = [
  {
    name: 'Prefix',
    cell: ({ subscription_id: id, prefix }) => (
      <a href={`/console/subscriptions/${id}`}>
        <span class="muted">#{id}</span> <GivenText text={prefix} />
      </a>
    ),
  },
  { name: 'Status', cell: (subscription) => <StateText of={subscription} /> },
  { name: 'Imports', cell: ({ trigger }) => <GivenText text={describeTrigger(trigger)} /> },
  { name: 'Waiting files', isNumber: true, cell: ({ waiting_objects }) => formatCount(waiting_objects) },
  {
    name: 'Next import',
    cell: ({ status, next_import_at: next }) => (status === 'paused' || next === null ? '–' : <Time at={next} />),
  },
  { name: 'Last import', cell: (subscription) => <LastImport of={subscription} /> },
];

export function StateText({ of }: { readonly of: Subscription }) {
  const { kind, text } = stateOf(of);
  return <span class={`status ${kind}`}>{text}</span>;
}

export function LastImport({ of: { last_import_log_id: id } }: { readonly of: Subscription }) {
  return id === null ? <>none yet</> : <a href={`/console/imports/${id}`}>Import {id}</a>;
}

export function SubscriptionsPage() {
  const { route } = useLocation();
  const [isCreating, setCreating] = useState(false);
  const canWrite = signedIn()?.scopes.includes('marketplace:write') ?? false;
  return (
    <Page
      title="Subscriptions"
      sub="Files that arrive under a prefix are imported automatically, once per version."
      actions={
        canWrite && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            Create a subscription
          </button>
        )
      }
    >
      <PagedTable
        listKey="subscriptions"
        caption="Subscriptions, newest first"
        load={(page, signal) => api.listSubscriptions({ query: page, signal })}
        rowKey={({ subscription_id }) => subscription_id}
        columns={columns}
        empty={
          <Empty title="No subscriptions yet">
            <p>Create one for a folder and upload files to it. Inlet then imports them automatically.</p>
          </Empty>
        }
        refreshMs={refreshMs}
      />
      {isCreating && (
        <EditDialog onDone={(id) => route(`/console/subscriptions/${id}`)} onClose={() => setCreating(false)} />
      )}
    </Page>
  );
}
