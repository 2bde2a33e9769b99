import { useLocation } from 'preact-iso';
import { Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, Status, Time } from '../components/state.tsx';
import { formatDuration } from '../format.ts';
import { type Job, operatorApi } from './operator-api.ts';
import './operator.css';
import { PauseButton, isLive } from './use-live.tsx';

const statusFilters = [
  { text: 'All', value: '' },
  { text: 'Unfinished', value: '0,1' },
  { text: 'Queued', value: '0' },
  { text: 'Running', value: '1' },
  { text: 'Done', value: '2' },
  { text: 'Failed', value: '3' },
] as const;

const columns: readonly [Column<Job>, ...Column<Job>[]] = [
  { name: 'Job', cell: ({ job_id }) => <a href={`/console/operator/jobs/${job_id}`}>{job_id}</a> },
  {
    name: 'Partner',
    cell: ({ partner }) => (
      <a href={`/console/operator/jobs?partner=${encodeURIComponent(partner)}`} title={`Only jobs of ${partner}`}>
        {partner}
      </a>
    ),
  },
  { name: 'Kind', cell: ({ kind, file_path }) => <KindAndPath kind={kind} path={file_path} /> },
  { name: 'Status', cell: (job) => <JobStatus job={job} /> },
  { name: 'Submitted', cell: ({ created_at }) => <Time at={created_at} /> },
  { name: 'Run time', isNumber: true, cell: (job) => runTimeOf(job) },
];

export function JobsPage() {
  const { query } = useLocation();
  const partner = query['partner'] ?? '';
  const status = query['status'] ?? '';
  const filter = { ...(partner === '' ? {} : { partner }), ...(status === '' ? {} : { status }) };
  const key = new URLSearchParams(filter).toString();
  return (
    <Page
      title="Jobs"
      sub="Imports, deletes, and audience loads of all partners, newest first"
      actions={<PauseButton />}
    >
      <Filters key={partner} partner={partner} status={status} />
      <PagedTable
        listKey={key}
        caption="Jobs"
        load={(page, signal) => operatorApi.listJobs({ ...filter, ...page }, signal)}
        rowKey={({ job_id }) => job_id}
        columns={columns}
        empty={
          <Empty title="No jobs">
            {key !== '' && (
              <p>
                No jobs match the filters. Partner names must match exactly.{' '}
                <a href="/console/operator/jobs">Show all jobs</a>
              </p>
            )}
          </Empty>
        }
        {...(isLive.value ? { refreshMs: 5_000 } : {})}
      />
    </Page>
  );
}

function Filters({ partner, status }: { readonly partner: string; readonly status: string }) {
  const { route } = useLocation();
  function apply(form: HTMLFormElement): void {
    const fields = [...new FormData(form)].flatMap(([name, value]) =>
      typeof value === 'string' && value.trim() !== '' ? [[name, value.trim()]] : [],
    );
    const query = new URLSearchParams(fields).toString();
    route(`/console/operator/jobs${query === '' ? '' : `?${query}`}`, true);
  }
  return (
    <search>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          apply(event.currentTarget);
        }}
      >
        <label>
          Partner
          <input name="partner" defaultValue={partner} maxLength={40} autocomplete="off" spellcheck={false} />
        </label>
        <label>
          Status
          <select name="status" onChange={({ currentTarget }) => currentTarget.form && apply(currentTarget.form)}>
            {statusFilters.map(({ text, value }) => (
              <option key={value} value={value} selected={value === status}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Filter</button>
        {(partner !== '' || status !== '') && <a href="/console/operator/jobs">Clear filters</a>}
      </form>
    </search>
  );
}

function KindAndPath({ kind, path }: { readonly kind: string; readonly path: string }) {
  return (
    <span>
      {kind} {path !== '' && <code>{path}</code>}
    </span>
  );
}

export function JobStatus({
  job: { status, canceled, error },
}: {
  readonly job: Pick<Job, 'status' | 'canceled' | 'error'>;
}) {
  return (
    <span>
      <Status status={status} />{' '}
      {(canceled || error) && <span class="small muted">{canceled ? 'canceled' : <code>{error?.code}</code>}</span>}
    </span>
  );
}

function runTimeOf({ started_at, finished_at }: Job): string {
  if (started_at === null || finished_at === null) return '–';
  return formatDuration((Date.parse(finished_at) - Date.parse(started_at)) / 1000);
}
