import type { Problem, Subscription, SubscriptionObject } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { api, noteExpiry, useApi } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import '../components/lists.css';
import { LoadingPage } from '../components/loading-page.tsx';
import { Fact, Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, ProblemNotice, Time } from '../components/state.tsx';
import { visibleText } from '../components/visible-text.ts';
import { formatBytes, formatCount } from '../format.ts';
import { signedIn } from '../session.ts';
import { describeTrigger, objectStates } from './describe-subscription.ts';
import { DeleteDialog, EditDialog } from './subscription-dialogs.tsx';
import { LastImport, StateText } from './subscriptions-page.tsx';

const refreshMs = 3_000;

export function SubscriptionPage() {
  const { params } = useRoute();
  return <SubscriptionOf key={params['id']} id={Number(params['id'])} />;
}

function SubscriptionOf({ id }: { readonly id: number }) {
  const { value, problem, reload } = useApi(`subscription ${id}`, (signal) => api.getSubscription(id, { signal }), {
    refreshMs,
  });
  const { route } = useLocation();
  const [opened, setOpened] = useState<'edit' | 'delete' | null>(null);
  const [failed, setFailed] = useState<Problem | null>(null);
  const canWrite = signedIn()?.scopes.includes('marketplace:write') ?? false;
  const back = <a href="/console/subscriptions">All subscriptions</a>;
  if (!value) return <LoadingPage title={`Subscription ${id}`} back={back} problem={problem} onRetry={reload} />;
  const isPaused = value.status === 'paused';
  async function pause(): Promise<void> {
    const result = await api.updateSubscription(id, { paused: !isPaused });
    if (!result.ok) noteExpiry(result.problem);
    setFailed(result.ok ? null : result.problem);
    reload();
  }
  return (
    <Page
      title={visibleText(value.prefix)}
      sub={
        <>
          {back} · Subscription {id} · created <Time at={value.created_at} />
        </>
      }
      actions={
        canWrite && (
          <>
            <button type="button" class={isPaused ? 'primary' : ''} onClick={() => void pause()}>
              {isPaused ? 'Resume' : 'Pause'}
            </button>
            <button type="button" onClick={() => setOpened('edit')}>
              Change …
            </button>
            <button type="button" class="danger" onClick={() => setOpened('delete')}>
              Delete …
            </button>
          </>
        )
      }
    >
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      {failed && <ProblemNotice problem={failed} />}
      <Summary subscription={value} />
      <Objects id={id} />
      {opened === 'edit' && (
        <EditDialog
          subscription={value}
          onDone={() => {
            setOpened(null);
            reload();
          }}
          onClose={() => setOpened(null)}
        />
      )}
      {opened === 'delete' && (
        <DeleteDialog
          subscription={value}
          onDone={() => route('/console/subscriptions')}
          onClose={() => setOpened(null)}
        />
      )}
    </Page>
  );
}

function Summary({ subscription }: { readonly subscription: Subscription }) {
  const { trigger, waiting_objects, next_import_at, last_listed_at, key_type, compressed, status } = subscription;
  return (
    <section class="card stack" aria-labelledby="status">
      <h2 id="status" class="visually-hidden">
        Status
      </h2>
      <div aria-live="polite">
        <StateText of={subscription} />
      </div>
      <dl class="facts">
        <Fact name="Imports">
          <GivenText text={describeTrigger(trigger)} />
        </Fact>
        <Fact name="Waiting files">{formatCount(waiting_objects)}</Fact>
        {next_import_at !== null && status === 'active' && (
          <Fact name="Next import">
            <Time at={next_import_at} />
          </Fact>
        )}
        <Fact name="Last import">
          <LastImport of={subscription} />
        </Fact>
        <Fact name="Last checked for files">{last_listed_at === null ? 'not yet' : <Time at={last_listed_at} />}</Fact>
        <Fact name="Keys in the files are">{key_type === 0 ? 'attribute IDs' : 'your foreign keys'}</Fact>
        <Fact name="Files are">{compressed ? 'gzipped' : 'plain text'}</Fact>
      </dl>
    </section>
  );
}

const columns: readonly [Column<SubscriptionObject>, ...Column<SubscriptionObject>[]] = [
  {
    name: 'File',
    cell: ({ path, error_code }) => (
      <div>
        <GivenText text={path} />
        {error_code !== null && <span class="file-error small">{error_code}</span>}
      </div>
    ),
  },
  {
    name: 'Status',
    cell: ({ state }) => <span class={`status ${objectStates[state].kind}`}>{objectStates[state].text}</span>,
  },
  {
    name: 'Import',
    cell: ({ import_log_id: id }) => (id === null ? '–' : <a href={`/console/imports/${id}`}>Import {id}</a>),
  },
  { name: 'Size', isNumber: true, cell: ({ size }) => formatBytes(size) },
  { name: 'Uploaded', cell: ({ last_modified }) => <Time at={last_modified} /> },
];

const shownStates = ['waiting', 'queued', 'imported', 'failed', 'overwritten', 'deleted', 'skipped', 'marker'] as const;

/** The versions of files that were seen under the prefix. */
function Objects({ id }: { readonly id: number }) {
  const [state, setState] = useState<SubscriptionObject['state'] | undefined>();
  return (
    <section class="stack" aria-labelledby="files">
      <div class="row">
        <h2 id="files">Files</h2>
        <select
          class="push"
          aria-label="File status"
          value={state ?? ''}
          onChange={({ currentTarget }) => setState(shownStates.find((one) => one === currentTarget.value))}
        >
          <option value="">All files</option>
          {shownStates.map((one) => (
            <option key={one} value={one}>
              {objectStates[one].text}
            </option>
          ))}
        </select>
      </div>
      <PagedTable
        listKey={`objects ${id} ${state}`}
        caption="Versions of files under the prefix, newest first"
        load={(page, signal) =>
          api.listSubscriptionObjects(id, { query: { limit: 50, ...page, ...(state ? { state } : {}) }, signal })
        }
        rowKey={({ path, etag, size }) => `${path} ${etag} ${size}`}
        columns={columns}
        empty={
          <Empty title={state === undefined ? 'No files yet' : 'No files have this status'}>
            {state === undefined && <p>Upload a file under the prefix.</p>}
          </Empty>
        }
        refreshMs={refreshMs}
      />
    </section>
  );
}
