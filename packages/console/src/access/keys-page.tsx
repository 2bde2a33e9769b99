import type { ApiKey, CreateApiKey } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { Page } from '../components/page.tsx';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, Time } from '../components/state.tsx';
import { signedIn } from '../session.ts';
import './access.css';
import { Field, FormDialog, OverlapField, SecretDialog } from './form-dialog.tsx';
import { StorageKeys } from './storage-keys.tsx';

type Scope = CreateApiKey['scopes'][number];
type Opened = { readonly kind: 'create' } | { readonly kind: 'rotate' | 'revoke'; readonly key: ApiKey };

export function KeysPage() {
  const [version, setVersion] = useState(0);
  const [opened, setOpened] = useState<Opened | null>(null);
  const [made, setMade] = useState<{ readonly secret: string | null } | null>(null);
  const scopes = signedIn()?.scopes ?? [];
  const canWrite = scopes.includes('keys:write');
  const close = (): void => setOpened(null);
  const done = (secret?: string | null): void => {
    close();
    if (secret !== undefined) setMade({ secret });
    setVersion((last) => last + 1);
  };
  return (
    <Page
      title="Keys"
      sub="API keys for your programs. Give each program its own key, with only the scopes that it needs."
      actions={
        canWrite && (
          <button type="button" class="primary" onClick={() => setOpened({ kind: 'create' })}>
            Create a key
          </button>
        )
      }
    >
      <PagedTable
        listKey="keys"
        version={version}
        caption="API keys"
        load={(page, signal) => api.listKeys({ query: page, signal })}
        rowKey={({ key_id }) => key_id}
        columns={columnsFor(canWrite ? setOpened : null)}
        empty={<Empty title="No keys" />}
      />
      {scopes.includes('storage:write') && <StorageKeys />}
      {opened?.kind === 'create' && <CreateDialog scopes={scopes} onDone={done} onClose={close} />}
      {opened?.kind === 'rotate' && <RotateDialog of={opened.key} onDone={done} onClose={close} />}
      {opened?.kind === 'revoke' && <RevokeDialog of={opened.key} onDone={done} onClose={close} />}
      {made && <SecretDialog name="API key" secret={made.secret} onClose={() => setMade(null)} />}
    </Page>
  );
}

function isEnded({ revoked_at, expires_at }: ApiKey): boolean {
  return revoked_at !== null || (expires_at !== null && new Date(expires_at) <= new Date());
}

function columnsFor(open: ((opened: Opened) => void) | null): readonly [Column<ApiKey>, ...Column<ApiKey>[]] {
  const columns: readonly [Column<ApiKey>, ...Column<ApiKey>[]] = [
    {
      name: 'Key',
      cell: (key) => (
        <>
          {key.name === '' ? <span class="muted">no name</span> : <GivenText text={key.name} />}{' '}
          <span class="muted small">ID {key.key_id}</span>
        </>
      ),
    },
    {
      name: 'Status',
      cell: (key) =>
        key.revoked_at !== null ? (
          <span class="status">Revoked</span>
        ) : (
          <span class={`status ${isEnded(key) ? '' : 'done'}`}>{isEnded(key) ? 'Expired' : 'Active'}</span>
        ),
    },
    { name: 'Scopes', cell: ({ scopes }) => <span class="small">{scopes.join(', ')}</span> },
    { name: 'Created by', cell: ({ created_by }) => created_by ?? 'operator' },
    { name: 'Last used', cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Time at={last_used_at} />) },
    { name: 'Expires', cell: ({ expires_at }) => (expires_at === null ? 'never' : <Time at={expires_at} />) },
  ];
  if (!open) return columns;
  const actions = (key: ApiKey) =>
    isEnded(key) ? null : (
      <div class="row">
        {(['rotate', 'revoke'] as const).map((kind) => (
          <button key={kind} type="button" onClick={() => open({ kind, key })}>
            {kind === 'rotate' ? 'Rotate' : 'Revoke'}
            <span class="visually-hidden"> key {key.key_id}</span>
          </button>
        ))}
      </div>
    );
  return [...columns, { name: 'Actions', cell: actions }];
}

type DialogProps = {
  readonly onDone: (secret?: string | null) => void;
  readonly onClose: () => void;
};

function CreateDialog({ scopes, onDone, onClose }: DialogProps & { readonly scopes: readonly string[] }) {
  const [name, setName] = useState('');
  const [days, setDays] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  return (
    <FormDialog
      title="Create a key"
      submitText="Create the key"
      send={() =>
        api.createKey({
          name,
          // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the session lists scopes of the contract
          scopes: chosen as readonly Scope[],
          expires_in_days: days === '' ? null : Number(days),
        })
      }
      onDone={(made) => onDone(made.api_key)}
      onClose={onClose}
    >
      <Field label="Purpose" value={name} onChange={setName} maxLength={100} isOptional />
      <fieldset class="scopes">
        <legend>Scopes</legend>
        {scopes.map((scope) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={chosen.includes(scope)}
              onChange={({ currentTarget }) =>
                setChosen((last) => (currentTarget.checked ? [...last, scope] : last.filter((one) => one !== scope)))
              }
            />{' '}
            {scope}
          </label>
        ))}
      </fieldset>
      <Field
        label="Lifetime in days"
        isNumber
        value={days}
        onChange={setDays}
        maxLength={4}
        hint="Leave it empty for a key that never expires."
        isOptional
      />
    </FormDialog>
  );
}

function RotateDialog({ of, onDone, onClose }: DialogProps & { readonly of: ApiKey }) {
  const [hours, setHours] = useState('24');
  return (
    <FormDialog
      title={`Rotate key ${of.key_id}?`}
      submitText="Rotate the key"
      send={() => api.rotateKey(of.key_id, { overlap_hours: Number(hours) })}
      onDone={(made) => onDone(made.api_key)}
      onClose={onClose}
    >
      <p>You get a new key with the same name, scopes, and lifetime.</p>
      <OverlapField
        hours={hours}
        onChange={setHours}
        hint="The old key keeps working for this long. With 0, it stops working immediately."
      />
    </FormDialog>
  );
}

function RevokeDialog({ of, onDone, onClose }: DialogProps & { readonly of: ApiKey }) {
  const [isForced, setForced] = useState(false);
  return (
    <FormDialog
      title={`Revoke key ${of.key_id}?`}
      submitText="Revoke the key"
      isDangerous
      send={() => api.revokeKey(of.key_id, isForced ? { query: { force: 'true' } } : {})}
      onDone={() => onDone()}
      onClose={onClose}
    >
      <p>All further requests with this key are rejected. Sessions that were opened with it end. This is permanent.</p>
      {of.scopes.includes('keys:write') && (
        <label>
          <input
            type="checkbox"
            checked={isForced}
            onChange={({ currentTarget }) => setForced(currentTarget.checked)}
          />{' '}
          Revoke this key even if it is the last one that can manage keys
        </label>
      )}
    </FormDialog>
  );
}
