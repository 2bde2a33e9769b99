import type { Attribute } from '@inlet/sdk/browser';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty } from '../components/state.tsx';
import { formatCount } from '../format.ts';
import './account.css';

const keysShown = 6;

const columns: readonly [Column<Attribute>, ...Column<Attribute>[]] = [
  { name: 'Attribute', cell: ({ name }) => <GivenText text={name} /> },
  { name: 'Attribute ID', isNumber: true, cell: ({ attribute_id }) => String(attribute_id) },
  { name: 'Foreign keys', cell: ({ foreign_keys }) => <Keys keys={foreign_keys} /> },
  {
    name: 'Status',
    cell: ({ retired }) =>
      retired ? (
        <span class="status" title="It accepts no imports. Its data can still be deleted.">
          Retired
        </span>
      ) : (
        <span class="status done">In use</span>
      ),
  },
];

function Keys({ keys }: { readonly keys: readonly string[] }) {
  if (keys.length === 0) return <span class="muted">none</span>;
  const rest = keys.slice(keysShown);
  return (
    <div>
      <KeyList keys={keys.slice(0, keysShown)} />
      {rest.length > 0 && (
        <details class="more-keys">
          <summary>{formatCount(rest.length)} more</summary>
          <KeyList keys={rest} />
        </details>
      )}
    </div>
  );
}

function KeyList({ keys }: { readonly keys: readonly string[] }) {
  return (
    <ul class="key-list">
      {keys.map((key) => (
        <li key={key}>
          <code>
            <GivenText text={key} />
          </code>
        </li>
      ))}
    </ul>
  );
}

export function AttributesPage() {
  return (
    <Page
      title="Attributes"
      sub="What the keys in your import files stand for. Your operator adds, maps, and retires attributes."
    >
      <PagedTable
        listKey="attributes"
        caption="Attributes with their foreign keys"
        load={(page, signal) => api.listAttributes({ query: { limit: 200, ...page }, signal })}
        rowKey={({ attribute_id }) => attribute_id}
        columns={columns}
        empty={
          <Empty title="No attributes yet">
            <p>Imports need attributes. Ask your operator to add them.</p>
          </Empty>
        }
      />
    </Page>
  );
}
