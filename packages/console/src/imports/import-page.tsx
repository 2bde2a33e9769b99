import type { ImportLog } from '@inlet/sdk/browser';
import { useRoute } from 'preact-iso';
import { api } from '../api.ts';
import { AllRejects } from '../components/all-rejects.tsx';
import { DownloadErrors } from '../components/errors-page.tsx';
import { type RejectsExport, maxFilesShown } from '../components/follow-rejects.ts';
import { GivenText } from '../components/given-text.tsx';
import { LiveHint } from '../components/live-hint.tsx';
import { LoadingPage } from '../components/loading-page.tsx';
import { Fact, Page } from '../components/page.tsx';
import { ProgressBlock } from '../components/progress-block.tsx';
import { ReasonList } from '../components/reason-list.tsx';
import { reasonsOf } from '../components/reasons.ts';
import { ProblemNotice, Status, Time } from '../components/state.tsx';
import { useFollow } from '../components/use-follow.ts';
import { visibleText } from '../components/visible-text.ts';
import { formatCount } from '../format.ts';
import { signedIn } from '../session.ts';
import { canExportRejects, isOpen, nameOf, summaryOf } from './describe-import.ts';
import { FilesTable } from './files-table.tsx';
import { ImportActions } from './import-actions.tsx';
import { RejectedCount } from './rejected-count.tsx';
import './imports.css';

export function ImportPage() {
  const { params } = useRoute();
  return <ImportOf key={params['id']} id={Number(params['id'])} />;
}

function ImportOf({ id }: { readonly id: number }) {
  const { value, problem, isReconnecting, restart } = useFollow(`import ${id}`, (signal) =>
    api.followImportLog(id, { signal }),
  );
  const name = `Import ${id}`;
  const back = <a href="/console/imports">All imports</a>;
  if (!value) return <LoadingPage title={name} back={back} problem={problem} onRetry={restart} />;
  return (
    <Page
      title={visibleText(nameOf(value))}
      sub={
        <>
          {back} · {name} · created <Time at={value.created_at} />
          {value.retry_of !== null && (
            <>
              {' '}
              · repeats <a href={`/console/imports/${value.retry_of}`}>import {value.retry_of}</a>
            </>
          )}
          {value.subscription_id !== null && (
            <>
              {' '}
              · from{' '}
              <a href={`/console/subscriptions/${value.subscription_id}`}>subscription {value.subscription_id}</a>
            </>
          )}
          {value.cancel_requested_at !== null && (
            <>
              {' '}
              · canceled by {value.canceled_by ?? `the ${value.cancel_requested_by}`}{' '}
              <Time at={value.cancel_requested_at} />
            </>
          )}
        </>
      }
      actions={
        <>
          <LiveHint isReconnecting={isReconnecting} isOpen={!problem && isOpen(value)} />
          <ImportActions record={value} />
        </>
      }
    >
      {problem && <ProblemNotice problem={problem} onRetry={restart} />}
      <Progress record={value} />
      {value.errors && <WhatFailed record={value} />}
      {value.log_type === 1 ? <Keys record={value} /> : <FilesTable record={value} />}
    </Page>
  );
}

function Progress({ record }: { readonly record: ImportLog }) {
  const { status } = record;
  const isDelete = record.log_type === 1;
  return (
    <section class="card stack" aria-labelledby="progress">
      <h2 id="progress" class="visually-hidden">
        Progress
      </h2>
      <div class="row">
        <Status status={status} />
        <span aria-live="polite">{summaryOf(record)}</span>
      </div>
      <ProgressBlock job={record} hasFiles={!isDelete}>
        {!isDelete && <Fact name="Rows in loaded files">{formatCount(record.total_rows)}</Fact>}
        {!isDelete && (
          <Fact name="Rejected rows">
            <RejectedCount record={record} />
          </Fact>
        )}
        <Fact name="Devices">{formatCount(record.unique_devices)}</Fact>
        <Fact name="Keys in the files are">{record.key_type === 0 ? 'attribute IDs' : 'your foreign keys'}</Fact>
        <Fact name="Started">{record.started_at === null ? 'Not yet' : <Time at={record.started_at} />}</Fact>
        <Fact name="Finished">{record.finished_at === null ? 'Not yet' : <Time at={record.finished_at} />}</Fact>
      </ProgressBlock>
    </section>
  );
}

function WhatFailed({ record }: { readonly record: ImportLog }) {
  const job = { kind: 'import', id: record.import_log_id } as const;
  return (
    <section class="card stack" aria-labelledby="what-failed">
      <div class="row">
        <h2 id="what-failed">What failed and why</h2>
        <div class="row push">
          <a href={`/console/imports/${job.id}/errors`}>All rejected rows</a>
          <DownloadErrors job={job} filters={{}} />
        </div>
      </div>
      <ReasonList job={job} reasons={reasonsOf(record)} version={record.status} />
      {canExportRejects(record) && signedIn()?.scopes.includes('marketplace:write') && (
        <AllRejects of={rejectsOf(record)} />
      )}
    </section>
  );
}

function rejectsOf({ import_log_id: id, path_type }: ImportLog): RejectsExport {
  return {
    needsCredentials: path_type === 1,
    request: (credentials, options) => api.requestImportRejects(id, { credentials }, options),
    get: (options) => api.getImportRejects(id, options),
    listFiles: (options) => api.listImportRejects(id, { ...options, query: { limit: maxFilesShown } }),
  };
}

function Keys({ record }: { readonly record: ImportLog }) {
  const keys = record.keys ?? [];
  return (
    <section class="card stack" aria-labelledby="keys">
      <h2 id="keys">{record.key_type === 0 ? 'Attribute IDs' : 'Foreign keys'} to delete</h2>
      <ul class="keys">
        {keys.map((key) => (
          <li key={key}>
            <GivenText text={key} />
          </li>
        ))}
      </ul>
    </section>
  );
}
