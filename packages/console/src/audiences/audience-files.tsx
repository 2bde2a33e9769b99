import type { AudienceDetails, AudienceFile, Problem } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api, noteExpiry } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { addressOf } from '../components/list-filters.ts';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { StatusChoice } from '../components/status-choice.tsx';
import { Empty, ProblemNotice, Status, Time } from '../components/state.tsx';
import { formatCount } from '../format.ts';
import { signedIn } from '../session.ts';
import { isFailed } from './describe-audience.ts';

const refreshMs = 3_000;

type Props = {
  readonly audience: AudienceDetails;
  readonly version: number;
  readonly onChange: () => void;
};

export function AudienceFiles({
  audience: { audience_id: id, status: audienceStatus, updated_at },
  version,
  onChange,
}: Props) {
  const [status, setStatus] = useState('');
  const [problem, setProblem] = useState<Problem | null>(null);
  const query = status === '' ? {} : { status };
  const canWrite = signedIn()?.scopes.includes('audience:write') ?? false;
  const isOpen = audienceStatus < 2;

  async function dismiss(fileId: string): Promise<void> {
    const result = await api.dismissFile(id, fileId);
    if (!result.ok) noteExpiry(result.problem);
    setProblem(result.ok ? null : result.problem);
    onChange();
  }

  return (
    <section class="stack" aria-labelledby="files">
      <div class="row">
        <h2 id="files">Files</h2>
        <div class="push">
          <StatusChoice label="File status" value={status} onChange={setStatus} />
        </div>
      </div>
      {problem && <ProblemNotice problem={problem} />}
      <PagedTable
        listKey={`${id} ${status}`}
        // Once an audience has ended, its time changes only if its files change.
        version={`${version} ${isOpen ? 'open' : updated_at}`}
        caption="Files of the audience, in the order in which they were appended"
        load={(page, signal) => api.listAudienceFiles(id, { query: { limit: 100, ...query, ...page }, signal })}
        rowKey={({ file_id }) => file_id}
        columns={columnsFor(id, canWrite ? (fileId) => void dismiss(fileId) : null)}
        empty={
          <Empty title={status === '' ? 'No files' : 'No files have this status'}>
            {status === '' && canWrite && (
              <p>
                <a href={`/console/audiences/${id}/append`}>Append files</a>
              </p>
            )}
          </Empty>
        }
        {...(isOpen ? { refreshMs } : {})}
      />
    </section>
  );
}

type Columns = readonly [Column<AudienceFile>, ...Column<AudienceFile>[]];

function columnsFor(id: number, dismiss: ((fileId: string) => void) | null): Columns {
  return [
    {
      name: 'File',
      cell: ({ s3_path, error }) => (
        <div>
          <GivenText text={s3_path} />
          {error && <span class="file-error small">{error.message}</span>}
        </div>
      ),
    },
    { name: 'Status', cell: (file) => <FileStatus file={file} /> },
    { name: 'Rows', isNumber: true, cell: ({ rows_uploaded }) => formatCount(rows_uploaded) },
    {
      name: 'Rejected',
      isNumber: true,
      cell: ({ file_id, s3_path, rows_rejected }) =>
        rows_rejected === 0 ? (
          '0'
        ) : (
          <a href={addressOf(`/console/audiences/${id}/errors`, { file: s3_path, entry: file_id })}>
            {formatCount(rows_rejected)}
            <span class="visually-hidden"> of {s3_path}</span>
          </a>
        ),
    },
    { name: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
    ...(dismiss ? [dismissColumn(dismiss)] : []),
  ];
}

function FileStatus({ file: { status, dismissed_at } }: { readonly file: AudienceFile }) {
  if (dismissed_at === null) return <Status status={status} />;
  return (
    <span class="status" title="The entry no longer affects the status of the audience.">
      Dismissed
    </span>
  );
}

function dismissColumn(dismiss: (fileId: string) => void): Column<AudienceFile> {
  return {
    name: 'Actions',
    cell: (file) =>
      isFailed(file) && (
        <button
          type="button"
          title="The entry stays in the list but no longer makes the audience fail."
          onClick={() => dismiss(file.file_id)}
        >
          Dismiss<span class="visually-hidden"> {file.s3_path}</span>
        </button>
      ),
  };
}
