import type { Attribute } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { Field, FormDialog } from '../access/form-dialog.tsx';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';

export type AttributeChange =
  | { readonly kind: 'create' }
  | { readonly kind: 'rename' | 'keys' | 'retire'; readonly attribute: Attribute };

type Props = { readonly change: AttributeChange; readonly onDone: () => void; readonly onClose: () => void };

export function AttributeDialog({ change, ...ends }: Props) {
  if (change.kind === 'create') return <NameDialog {...ends} />;
  if (change.kind === 'rename') return <NameDialog {...ends} attribute={change.attribute} />;
  return change.kind === 'keys' ? (
    <KeysDialog {...ends} attribute={change.attribute} />
  ) : (
    <RetireDialog {...ends} attribute={change.attribute} />
  );
}

type Ends = { readonly onDone: () => void; readonly onClose: () => void };

function NameDialog({ attribute, ...ends }: Ends & { readonly attribute?: Attribute }) {
  const [name, setName] = useState(attribute?.name ?? '');
  const [keys, setKeys] = useState('');
  return (
    <FormDialog
      {...ends}
      title={attribute ? 'Rename the attribute' : 'Create an attribute'}
      submitText={attribute ? 'Rename' : 'Create'}
      send={() =>
        attribute
          ? api.renameAttribute(attribute.attribute_id, { name })
          : api.createAttribute({ name, foreign_keys: toKeys(keys) })
      }
    >
      <Field
        label="Name"
        value={name}
        onChange={setName}
        maxLength={100}
        hint="Composition reports show this name, including those of other partners."
      />
      {!attribute && <KeysField value={keys} onChange={setKeys} isOptional />}
    </FormDialog>
  );
}

/** Foreign keys never contain "|", so it separates them here as in files. */
function toKeys(text: string): string[] {
  return text.split('|').flatMap((key) => (key.trim() === '' ? [] : [key.trim()]));
}

type KeysProps = { readonly value: string; readonly onChange: (value: string) => void; readonly isOptional?: boolean };

function KeysField(props: KeysProps) {
  return <Field {...props} label="Foreign keys" hint="Your own keys for the attribute, separated by “|”." />;
}

function KeysDialog({ attribute, ...ends }: Ends & { readonly attribute: Attribute }) {
  const [isRemoving, setRemoving] = useState(false);
  const [keys, setKeys] = useState('');
  const { attribute_id: id } = attribute;
  return (
    <FormDialog
      {...ends}
      title="Change the foreign keys"
      submitText={isRemoving ? 'Remove the keys' : 'Add the keys'}
      isDangerous={isRemoving}
      send={() => {
        const body = { foreign_keys: toKeys(keys) };
        return isRemoving ? api.untieForeignKeys(id, body) : api.tieForeignKeys(id, body);
      }}
    >
      <p>
        The keys of “<GivenText text={attribute.name} />
        ”. A key of another attribute is moved here. Later imports reject rows with a key that you remove.
      </p>
      <KeysField value={keys} onChange={setKeys} />
      <label>
        <input
          type="checkbox"
          checked={isRemoving}
          onChange={({ currentTarget }) => setRemoving(currentTarget.checked)}
        />{' '}
        Remove these keys
      </label>
    </FormDialog>
  );
}

function RetireDialog({ attribute, ...ends }: Ends & { readonly attribute: Attribute }) {
  return (
    <FormDialog
      {...ends}
      title="Retire this attribute?"
      submitText="Retire the attribute"
      isDangerous
      send={() => api.retireAttribute(attribute.attribute_id)}
    >
      <p>
        “<GivenText text={attribute.name} />” can never accept imports again. Rows with its keys are rejected. Its data
        stays until you delete it.
      </p>
    </FormDialog>
  );
}
