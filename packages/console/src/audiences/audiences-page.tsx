import type { Audience } from '@inlet/sdk/browser';
import { api } from '../api.ts';
import {
  DayFilters,
  Filterbar,
  type FilterBar,
  StatusFilter,
  TextFilter,
  useFilters,
} from '../components/filter-bar.tsx';
import { GivenText } from '../components/given-text.tsx';
import { apiQuery } from '../components/list-filters.ts';
import { Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, Status, Time } from '../components/state.tsx';
import { formatCount, formatPercent } from '../format.ts';
import { signedIn } from '../session.ts';

const refreshMs = 3_000;

const columns: readonly [Column<Audience>, ...Column<Audience>[]] = [
  {
    name: 'Audience',
    cell: ({ audience_id, name, customer }) => {
      const text = (
        <>
          <span class="muted">#{audience_id}</span> <GivenText text={name} />
        </>
      );
      // Only the customer itself can open its audiences.
      const isOpenable = customer === null || signedIn()?.role === 'customer';
      return isOpenable ? <a href={`/console/audiences/${audience_id}`}>{text}</a> : text;
    },
  },
  { name: 'Status', cell: ({ status }) => <Status status={status} /> },
  { name: 'Unique devices', isNumber: true, cell: ({ unique_devices }) => formatCount(unique_devices) },
  { name: 'Matched', isNumber: true, cell: ({ matched_devices }) => formatCount(matched_devices) },
  {
    name: 'Match rate',
    isNumber: true,
    cell: ({ matched_devices, unique_devices }) =>
      unique_devices === 0 ? '–' : formatPercent(matched_devices / unique_devices),
  },
  { name: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
];

const customerColumn: Column<Audience> = {
  name: 'Customer',
  cell: ({ customer }) => (customer === null ? 'None' : <GivenText text={customer} />),
};

export function AudiencesPage() {
  const isPartner = signedIn()?.role === 'partner';
  const bar = useFilters(['status', 'name', ...(isPartner ? ['customer'] : []), 'from', 'to']);
  const query = apiQuery(bar.filters);
  const canWrite = signedIn()?.scopes.includes('audience:write') ?? false;
  return (
    <Page
      title="Audiences"
      sub="Sets of devices that are built from your files."
      actions={
        canWrite && (
          <a class="button primary" href="/console/audiences/new">
            New audience
          </a>
        )
      }
    >
      <Filterbar bar={bar} label="Filter audiences">
        <StatusFilter bar={bar} />
        <TextFilter bar={bar} name="name" label="Name contains" max={256} />
        {isPartner && <TextFilter bar={bar} name="customer" label="Customer (* for all)" max={100} />}
        <DayFilters bar={bar} />
      </Filterbar>
      <PagedTable
        listKey={JSON.stringify(query)}
        caption="Audiences, newest first"
        load={(page, signal) => api.listAudiences({ query: { limit: 50, ...query, ...page }, signal })}
        rowKey={({ audience_id }) => audience_id}
        columns={'customer' in query ? [...columns, customerColumn] : columns}
        empty={<NoAudiences bar={bar} canWrite={canWrite} />}
        refreshMs={(items) => (items.some(({ status }) => status < 2) ? refreshMs : undefined)}
      />
    </Page>
  );
}

function NoAudiences({ bar, canWrite }: { readonly bar: FilterBar; readonly canWrite: boolean }) {
  if (bar.isFiltered) {
    return (
      <Empty title="No audience matches these filters">
        <button type="button" onClick={bar.clear}>
          Clear filters
        </button>
      </Empty>
    );
  }
  return (
    <Empty title="No audiences yet">
      <p>
        An audience is built from files with an ID and an event per line.{' '}
        {canWrite && <a href="/console/audiences/new">Create the first audience</a>}
      </p>
    </Empty>
  );
}
