import type { RotatedStorageKey, StorageKey } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, Time } from '../components/state.tsx';
import './access.css';
import { FormDialog, OverlapField, SecretDialog } from './form-dialog.tsx';

/** The keys that a partner uses to upload files to its prefix. A rotation replaces all of them at once. */
export function StorageKeys() {
  const [version, setVersion] = useState(0);
  const [isRotating, setRotating] = useState(false);
  const [isAvailable, setAvailable] = useState(true);
  const [revoked, setRevoked] = useState<StorageKey | null>(null);
  const [made, setMade] = useState<RotatedStorageKey | null>(null);
  const done = (rotated: RotatedStorageKey): void => {
    setRotating(false);
    setMade(rotated);
    setVersion((last) => last + 1);
  };
  return (
    <section class="stack" aria-labelledby="storage-keys">
      <div class="row">
        <div>
          <h2 id="storage-keys">Storage keys</h2>
          <p class="muted small">Access keys that your programs use to upload files directly to the storage.</p>
        </div>
        {isAvailable && (
          <div class="row push">
            <button type="button" onClick={() => setRotating(true)}>
              Rotate the storage keys
            </button>
          </div>
        )}
      </div>
      {isAvailable ? (
        <PagedTable
          listKey="storage keys"
          version={version}
          caption="Storage keys"
          load={async (_page, signal) => {
            const result = await api.listStorageKeys({ signal });
            if (!result.ok && result.problem.code === 'storage_keys_not_available') setAvailable(false);
            return result;
          }}
          rowKey={({ access_key_id }) => access_key_id}
          columns={columnsFor(setRevoked)}
          empty={<Empty title="No storage keys" />}
        />
      ) : (
        <p>Your operator manages your storage keys.</p>
      )}
      {isRotating && <RotateDialog onDone={done} onClose={() => setRotating(false)} />}
      {revoked && (
        <RevokeDialog
          id={revoked.access_key_id}
          onDone={() => {
            setRevoked(null);
            setVersion((last) => last + 1);
          }}
          onClose={() => setRevoked(null)}
        />
      )}
      {made && (
        <SecretDialog
          name="storage key"
          secret={made.secret_access_key}
          ifLost="The response was lost. Rotate the storage keys again."
          onClose={() => setMade(null)}
        >
          <p>
            The access key ID is <code>{made.access_key_id}</code>. This is its secret:
          </p>
        </SecretDialog>
      )}
    </section>
  );
}

const columnsFor = (revoke: (key: StorageKey) => void): readonly [Column<StorageKey>, ...Column<StorageKey>[]] => [
  { name: 'Access key ID', cell: ({ access_key_id }) => <code>{access_key_id}</code> },
  {
    name: 'Created',
    cell: ({ created_at }) => (created_at === null ? 'with your account' : <Time at={created_at} />),
  },
  { name: 'Created by', cell: ({ created_by }) => created_by ?? 'operator' },
  { name: 'Expires', cell: ({ expires_at }) => (expires_at === null ? 'never' : <Time at={expires_at} />) },
  {
    name: 'Actions',
    cell: (key) => (
      <button type="button" onClick={() => revoke(key)}>
        Revoke<span class="visually-hidden"> storage key {key.access_key_id}</span>
      </button>
    ),
  },
];

type RotateProps = { readonly onDone: (rotated: RotatedStorageKey) => void; readonly onClose: () => void };

function RotateDialog({ onDone, onClose }: RotateProps) {
  const [hours, setHours] = useState('24');
  return (
    <FormDialog
      title="Rotate the storage keys?"
      submitText="Rotate the storage keys"
      send={() => api.rotateStorageKeys({ overlap_hours: Number(hours) })}
      onDone={onDone}
      onClose={onClose}
    >
      <p>You get a new storage key. All others are revoked after the overlap.</p>
      <OverlapField
        hours={hours}
        onChange={setHours}
        hint="The other keys keep working for this long, up to 168 hours. With 0, they stop working before the new key is created."
      />
    </FormDialog>
  );
}

type RevokeProps = { readonly id: string; readonly onDone: () => void; readonly onClose: () => void };

function RevokeDialog({ id, onDone, onClose }: RevokeProps) {
  return (
    <FormDialog
      title="Revoke the storage key?"
      submitText="Revoke the storage key"
      isDangerous
      send={() => api.revokeStorageKey(id)}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        The storage rejects every request with the key <code>{id}</code>. The other storage keys keep working. This is
        permanent.
      </p>
    </FormDialog>
  );
}
