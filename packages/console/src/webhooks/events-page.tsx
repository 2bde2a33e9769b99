import type { Event } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, Time } from '../components/state.tsx';
import { signedIn } from '../session.ts';
import { detailsOf, ownCustomerOf, recordOf, titleOf } from './describe-event.ts';
import { EventDialog } from './event-dialog.tsx';
import '../components/lists.css';
import './webhooks.css';

const refreshMs = 3_000;

const columns: readonly [Column<Event>, ...Column<Event>[]] = [
  {
    name: 'Event',
    cell: (event) => (
      <div>
        {titleOf(event)}
        <span class="small muted below">
          #{event.sequence} · {event.type}
        </span>
      </div>
    ),
  },
  { name: 'Record', cell: (event) => <RecordOf event={event} /> },
  { name: 'Details', cell: (event) => detailsOf(event) },
  { name: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
];

function RecordOf({ event }: { readonly event: Event }) {
  const record = recordOf(event);
  if (record === null) return null;
  const customer = ownCustomerOf(event, signedIn()?.role);
  return (
    <div>
      {customer === null ? <a href={record.href}>{record.text}</a> : record.text}
      {customer !== null && (
        <span class="small muted below">
          <GivenText text={customer} />
        </span>
      )}
    </div>
  );
}

/** The events for a partner's imports, audiences, reports, and webhooks, or for a customer's audiences. */
export function EventsPage() {
  const [opened, setOpened] = useState<number | null>(null);
  const action: Column<Event> = {
    name: 'Actions',
    cell: ({ sequence }) => (
      <button type="button" onClick={() => setOpened(sequence)}>
        JSON<span class="visually-hidden"> of event {sequence}</span>
      </button>
    ),
  };
  return (
    <Page title="Events" sub="What has happened in the last 30 days, newest first. New events appear automatically.">
      <PagedTable
        listKey="events"
        caption="Events, newest first"
        load={(page, signal) => api.listEvents({ query: { limit: 50, order: 'desc', ...page }, signal })}
        rowKey={({ sequence }) => sequence}
        columns={[...columns, action]}
        empty={
          <Empty title="No events yet">
            <p>The end of every import, audience file, and report is listed here.</p>
          </Empty>
        }
        refreshMs={refreshMs}
      />
      {opened !== null && <EventDialog sequence={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}
