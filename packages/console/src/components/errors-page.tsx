import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { formatCount } from '../format.ts';
import { type Downloaded, type JobOfErrors, downloadErrors, listErrors, pageOfJob } from './error-list.ts';
import { ChoiceFilter, type FilterBar, Filterbar, useFilters } from './filter-bar.tsx';
import { visibleText } from './visible-text.ts';
import { apiQuery } from './list-filters.ts';
import { Page } from './page.tsx';
import { PagedTable } from './paged-table.tsx';
import { errorColumns, keyOfError } from './rejected-rows.tsx';
import { Empty, Notice } from './state.tsx';

type Props = {
  readonly job: JobOfErrors;
  /** The name of the job, for example `Import 12`. */
  readonly name: string;
  /** The codes that the user can choose, with their explanations. */
  readonly reasons: readonly { readonly code: string; readonly message: string }[];
  /** The content above the list. */
  readonly children?: ComponentChildren;
};

/** The rejected rows and failed files of a job, filtered by reason and file. */
export function ErrorsPage({ job, name, reasons, children }: Props) {
  const bar = useFilters(['code', 'file', 'entry']);
  const query = apiQuery(bar.filters);
  const reason = reasons.find(({ code }) => code === bar.filters['code']);
  return (
    <Page
      title="Rejected rows"
      sub={
        <>
          <a href={pageOfJob(job)}>{name}</a> · The first 100 rows per file and reason are kept for 90 days.
        </>
      }
      actions={<DownloadErrors job={job} filters={query} />}
    >
      <Filterbar bar={bar} label="Filter rejected rows">
        <ChoiceFilter
          bar={bar}
          name="code"
          label="Reason"
          choices={[['', 'All reasons'], ...reasons.map(({ code }) => [code, code] as const)]}
        />
        <FileFilter bar={bar} />
      </Filterbar>
      {reason && <p>{reason.message}</p>}
      {children}
      <PagedTable
        listKey={`${job.id} ${JSON.stringify(query)}`}
        caption="Rejected rows and failed files, by file and line"
        load={(page, signal) => listErrors(job, { limit: 100, ...query, ...page }, signal)}
        rowKey={keyOfError}
        columns={errorColumns(bar.filters['file'] === undefined ? (file) => bar.set('file', file) : null)}
        empty={
          <Empty title={bar.isFiltered ? 'No rows match these filters' : 'No rows were rejected'}>
            <p>
              <a href={pageOfJob(job)}>Back to {name}</a>
            </p>
          </Empty>
        }
      />
    </Page>
  );
}

/**
 * Shows the file that the list is filtered by. Users choose a file in the tables, because a job can have 10,000 files.
 */
function FileFilter({ bar }: { readonly bar: FilterBar }) {
  const file = bar.filters['file'];
  if (file === undefined) return null;
  return (
    <label style={{ minWidth: 'min(24rem, 100%)' }}>
      File
      <input readOnly value={visibleText(file)} />
    </label>
  );
}

type DownloadProps = { readonly job: JobOfErrors; readonly filters: Readonly<Record<string, string>> };

export function DownloadErrors({ job, filters }: DownloadProps) {
  const [rows, setRows] = useState<number | null>(null);
  const [last, setLast] = useState<Downloaded | null>(null);
  const stop = useRef<AbortController | null>(null);
  async function download(): Promise<void> {
    const own = new AbortController();
    stop.current = own;
    setRows(0);
    setLast(null);
    setLast(await downloadErrors(job, filters, own.signal, setRows));
    setRows(null);
  }
  if (rows !== null) {
    return (
      <>
        <span class="small muted" aria-live="polite">
          {formatCount(rows)} rows
        </span>
        <button type="button" onClick={() => stop.current?.abort()}>
          Cancel the download
        </button>
      </>
    );
  }
  return (
    <>
      {last?.end === 'failed' && (
        <Notice kind="bad">
          {last.rows === 0
            ? 'The download failed. Try again.'
            : `The download stopped, and the file has only the first ${formatCount(last.rows)} rows. Try again later.`}
        </Notice>
      )}
      {last?.end === 'limit' && (
        <Notice kind="warn">
          The file has the first {formatCount(last.rows)} rows. {hintForAll(job)}
        </Notice>
      )}
      <button type="button" onClick={() => void download()}>
        Download CSV
      </button>
    </>
  );
}

function hintForAll(job: JobOfErrors): ComponentChildren {
  const path = pageOfJob(job);
  if (job.kind === 'import') {
    return (
      <>
        To get all of them, <a href={path}>export the rejected rows of the import</a>.
      </>
    );
  }
  return (
    <>
      To get all rejected rows of a file, click their number in the <a href={path}>list of files</a>, and export them.
    </>
  );
}
