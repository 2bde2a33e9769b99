import type { ImportLog } from '@inlet/sdk/browser';
import { api } from '../api.ts';
import {
  ChoiceFilter,
  DayFilters,
  Filterbar,
  StatusFilter,
  TextFilter,
  type FilterBar,
  useFilters,
} from '../components/filter-bar.tsx';
import { GivenText } from '../components/given-text.tsx';
import { apiQuery } from '../components/list-filters.ts';
import { Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, Status, Time } from '../components/state.tsx';
import { formatCount } from '../format.ts';
import { signedIn } from '../session.ts';
import { describeProgress, isOpen, nameOf } from './describe-import.ts';
import { RejectedCount } from './rejected-count.tsx';
import '../components/lists.css';

const refreshMs = 3_000;
const types = [
  ['', 'All'],
  ['0', 'Imports'],
  ['1', 'Deletes'],
] as const;

const columns: readonly [Column<ImportLog>, ...Column<ImportLog>[]] = [
  {
    name: 'Import',
    cell: (record) => (
      <a href={`/console/imports/${record.import_log_id}`}>
        <span class="muted">#{record.import_log_id}</span> <GivenText text={nameOf(record)} />
      </a>
    ),
  },
  {
    name: 'Status',
    cell: (record) => (
      <span class="live-status">
        <Status status={record.status} />
        <span class="small muted">{describeProgress(record)}</span>
      </span>
    ),
  },
  { name: 'Rows', isNumber: true, cell: ({ total_rows }) => formatCount(total_rows) },
  { name: 'Rejected', isNumber: true, cell: (record) => <RejectedCount record={record} /> },
  { name: 'Devices', isNumber: true, cell: ({ unique_devices }) => formatCount(unique_devices) },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
];

export function ImportsPage() {
  const bar = useFilters(['status', 'type', 'path', 'from', 'to']);
  const query = apiQuery(bar.filters);
  const canWrite = signedIn()?.scopes.includes('marketplace:write') ?? false;
  return (
    <Page
      title="Imports"
      sub="Imports and deletes run one at a time, in the order in which they were submitted."
      actions={
        canWrite && (
          <a class="button primary" href="/console/imports/new">
            New import
          </a>
        )
      }
    >
      <Filterbar bar={bar} label="Filter imports">
        <StatusFilter bar={bar} />
        <ChoiceFilter bar={bar} name="type" label="Type" choices={types} />
        <TextFilter bar={bar} name="path" label="Path starts with" max={1200} />
        <DayFilters bar={bar} />
      </Filterbar>
      <PagedTable
        listKey={JSON.stringify(query)}
        caption="Imports, newest first"
        load={(page, signal) => api.listImportLogs({ query: { limit: 50, ...query, ...page }, signal })}
        rowKey={({ import_log_id }) => import_log_id}
        columns={columns}
        empty={<NoImports bar={bar} canWrite={canWrite} />}
        refreshMs={(items) => (items.some(isOpen) ? refreshMs : undefined)}
      />
    </Page>
  );
}

function NoImports({ bar, canWrite }: { readonly bar: FilterBar; readonly canWrite: boolean }) {
  if (bar.isFiltered) {
    return (
      <Empty title="No imports match these filters">
        <button type="button" onClick={bar.clear}>
          Clear filters
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No imports yet">
      <p>
        Upload files of device IDs and keys, then import them.{' '}
        {canWrite && <a href="/console/imports/new">Start the first import</a>}
      </p>
    </Empty>
  );
}
