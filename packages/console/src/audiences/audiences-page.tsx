import type { Audience } from '@inlet/sdk/browser';
import { api, useApi } from '../api.ts';
import {
  ChoiceFilter,
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
import { customerOfOwner, ownChoice, ownerChoice } from './owner-filter.ts';

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
  const bar = useFilters(['status', 'name', ...(isPartner ? ['owner'] : []), 'from', 'to']);
  const query = { ...apiQuery(bar.filters), ...(isPartner ? customerOfOwner(bar.filters['owner']) : {}) };
  const canWrite = signedIn()?.scopes.includes('audience:write') ?? false;
  const customers = useCustomers(isPartner);
  const hasCustomers = isPartner && customers?.length !== 0;
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
        {hasCustomers && (
          <ChoiceFilter
            bar={bar}
            name="owner"
            label="Owner"
            choices={[['', 'All'], ownChoice, ...(customers ?? []).map(ownerChoice)]}
          />
        )}
        <DayFilters bar={bar} />
      </Filterbar>
      {hasCustomers && (
        <p class="small muted">
          The audiences of a customer can be opened only by a user of the customer or with one of its{' '}
          <a href="/console/customers">user tokens</a>.
        </p>
      )}
      <PagedTable
        listKey={JSON.stringify(query)}
        caption="Audiences, newest first"
        load={(page, signal) => api.listAudiences({ query: { limit: 50, ...query, ...page }, signal })}
        rowKey={({ audience_id }) => audience_id}
        columns={hasCustomers ? [...columns, customerColumn] : columns}
        empty={<NoAudiences bar={bar} canWrite={canWrite} />}
        refreshMs={(items) => (items.some(({ status }) => status < 2) ? refreshMs : undefined)}
      />
    </Page>
  );
}

const customersListed = 1_000;

/** The customers to choose from. Undefined until they are known, or if the session may not list them. */
function useCustomers(isPartner: boolean): readonly string[] | undefined {
  const canRead = isPartner && (signedIn()?.scopes.includes('customers:read') ?? false);
  const { value } = useApi('customers', (signal) => api.listCustomers({ query: { limit: customersListed }, signal }), {
    isPaused: !canRead,
  });
  return value?.map(({ name }) => name);
}

function NoAudiences({ bar, canWrite }: { readonly bar: FilterBar; readonly canWrite: boolean }) {
  if (bar.isFiltered) {
    return (
      <Empty title="No audiences match these filters">
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
