import type { Attribute } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty } from '../components/state.tsx';
import { formatCount } from '../format.ts';
import { signedIn } from '../session.ts';
import './account.css';
import { type AttributeChange, AttributeDialog } from './attribute-dialogs.tsx';

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

const actionNames = { keys: 'Keys', rename: 'Rename', retire: 'Retire' } as const;

function actionsFor(open: (change: AttributeChange) => void): Column<Attribute> {
  return {
    name: 'Actions',
    cell: (attribute) => (
      <div class="row">
        {(['keys', 'rename', 'retire'] as const)
          .filter((kind) => kind !== 'retire' || !attribute.retired)
          .map((kind) => (
            <button key={kind} type="button" onClick={() => open({ kind, attribute })}>
              {actionNames[kind]}
              <span class="visually-hidden"> of attribute {attribute.attribute_id}</span>
            </button>
          ))}
      </div>
    ),
  };
}

export function AttributesPage() {
  const [version, setVersion] = useState(0);
  const [change, setChange] = useState<AttributeChange | null>(null);
  const canWrite = signedIn()?.scopes.includes('attributes:write') ?? false;
  const create = canWrite && (
    <button type="button" class="primary" onClick={() => setChange({ kind: 'create' })}>
      Create an attribute
    </button>
  );
  return (
    <Page title="Attributes" sub="The attributes that the keys in your import files stand for." actions={create}>
      <PagedTable
        listKey="attributes"
        version={version}
        caption="Attributes with their foreign keys"
        load={(page, signal) => api.listAttributes({ query: { limit: 200, ...page }, signal })}
        rowKey={({ attribute_id }) => attribute_id}
        columns={canWrite ? [...columns, actionsFor(setChange)] : columns}
        empty={
          <Empty title="No attributes yet">
            <p>Imports need attributes. {canWrite ? 'Create the first one.' : 'Ask your operator to add them.'}</p>
          </Empty>
        }
      />
      {change && (
        <AttributeDialog
          change={change}
          onDone={() => {
            setChange(null);
            setVersion((last) => last + 1);
          }}
          onClose={() => setChange(null)}
        />
      )}
    </Page>
  );
}
