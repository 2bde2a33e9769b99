import type { ImportFile, ImportLog } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { addressOf } from '../components/list-filters.ts';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { StatusChoice } from '../components/status-choice.tsx';
import { Empty, Status } from '../components/state.tsx';
import { formatBytes, formatCount } from '../format.ts';
import { isOpen } from './describe-import.ts';

const refreshMs = 3_000;

/** The files of an import, one page at a time, because there can be 10,000. */
export function FilesTable({ record }: { readonly record: ImportLog }) {
  const [status, setStatus] = useState('');
  const id = record.import_log_id;
  const query = status === '' ? {} : { status };
  return (
    <section class="stack" aria-labelledby="files">
      <div class="row">
        <h2 id="files">Files</h2>
        <div class="push">
          <StatusChoice label="File status" value={status} onChange={setStatus} />
        </div>
      </div>
      <PagedTable
        listKey={`${id} ${status}`}
        version={record.status}
        caption="Files of the import, by path"
        load={(page, signal) => api.listImportFiles(id, { query: { limit: 100, ...query, ...page }, signal })}
        rowKey={({ file }) => file}
        columns={columnsFor(id)}
        empty={<NoFiles record={record} isFiltered={status !== ''} />}
        {...(isOpen(record) ? { refreshMs } : {})}
      />
    </section>
  );
}

function columnsFor(id: number): readonly [Column<ImportFile>, ...Column<ImportFile>[]] {
  const rowsOf = (file: string): string => addressOf(`/console/imports/${id}/errors`, { file });
  return [
    {
      name: 'File',
      cell: ({ file, error }) => (
        <div>
          <GivenText text={file} />
          {error && <span class="file-error small">{error.message}</span>}
        </div>
      ),
    },
    { name: 'Status', cell: ({ status }) => <Status status={status} /> },
    { name: 'Rows', isNumber: true, cell: ({ total_rows }) => formatCount(total_rows) },
    {
      name: 'Rejected',
      isNumber: true,
      cell: ({ file, rejected_rows, error }) => {
        if (rejected_rows === 0 && !error) return '0';
        return (
          <a href={rowsOf(file)}>
            {rejected_rows === 0 ? 'Why' : formatCount(rejected_rows)}
            <span class="visually-hidden"> of {file}</span>
          </a>
        );
      },
    },
    {
      name: 'Read',
      isNumber: true,
      cell: ({ status, bytes, bytes_read }) =>
        status === 1 && bytes > 0 ? `${Math.floor((bytes_read / bytes) * 100)}%` : formatBytes(bytes),
    },
  ];
}

function NoFiles({ record, isFiltered }: { readonly record: ImportLog; readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No files have this status" />;
  if (record.started_at === null && isOpen(record)) {
    return (
      <Empty title="The files are not listed yet">
        <p>They are listed when the import starts.</p>
      </Empty>
    );
  }
  return (
    <Empty title="No files">
      <p>
        Nothing was found at <GivenText text={record.file_path} />. Check the path, upload the files, and import them
        again.
      </p>
    </Empty>
  );
}
