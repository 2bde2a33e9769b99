import type { Subscription } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { Field, FormDialog } from '../access/form-dialog.tsx';
import { api } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { Choices } from '../upload/choices.tsx';
import '../upload/upload.css';
import { type TriggerKind, kindOf, toTrigger, triggerFields, triggerKinds } from './describe-subscription.ts';

const keyTypes = [
  ['1', 'Your foreign keys'],
  ['0', 'Attribute IDs'],
] as const;

type EditProps = {
  /** Absent to create a subscription. */
  readonly subscription?: Subscription;
  readonly onDone: (id: number) => void;
  readonly onClose: () => void;
};

export function EditDialog({ subscription, onDone, onClose }: EditProps) {
  const [prefix, setPrefix] = useState('');
  const [keyType, setKeyType] = useState<'0' | '1'>(subscription?.key_type === 0 ? '0' : '1');
  const [isGzip, setGzip] = useState(subscription?.compressed ?? true);
  const [existing, setExisting] = useState<'import' | 'skip'>('skip');
  const [kind, setKind] = useState<TriggerKind>(subscription ? kindOf(subscription.trigger) : 'quiet_seconds');
  const [value, setValue] = useState(String(subscription?.trigger[kind] ?? triggerFields[kind].value));
  const { label, hint } = triggerFields[kind];
  const settings = {
    key_type: keyType === '0' ? 0 : 1,
    compressed: isGzip,
    trigger: toTrigger(kind, value),
  } as const;
  const id = subscription?.subscription_id;
  return (
    <FormDialog<{ readonly subscription_id: number }>
      title={id === undefined ? 'Create a subscription' : 'Change the subscription'}
      submitText={id === undefined ? 'Create the subscription' : 'Save'}
      send={() =>
        id === undefined
          ? api.createSubscription({ prefix, existing, ...settings })
          : api.updateSubscription(id, settings)
      }
      onDone={(made) => onDone(made.subscription_id)}
      onClose={onClose}
    >
      {id === undefined && (
        <Field
          label="Prefix"
          value={prefix}
          onChange={setPrefix}
          maxLength={1_200}
          hint="Files whose path starts with this prefix are imported. A folder ends with a slash."
        />
      )}
      <div class="field">
        <label htmlFor="trigger">Import</label>
        <select
          id="trigger"
          value={kind}
          onChange={({ currentTarget }) => {
            const next = triggerKinds.find(([one]) => one === currentTarget.value)?.[0] ?? kind;
            setKind(next);
            setValue(triggerFields[next].value);
          }}
        >
          {triggerKinds.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
      </div>
      <Field
        key={kind}
        label={label}
        value={value}
        onChange={setValue}
        hint={hint}
        maxLength={255}
        isNumber={typeof settings.trigger[kind] === 'number'}
      />
      <Choices
        legend="The keys in the files are"
        name="key-type"
        value={keyType}
        choices={keyTypes}
        onChange={setKeyType}
      />
      <div class="choices">
        <label>
          <input type="checkbox" checked={isGzip} onChange={({ currentTarget }) => setGzip(currentTarget.checked)} />
          The files are gzipped
        </label>
        {id === undefined && (
          <label>
            <input
              type="checkbox"
              checked={existing === 'import'}
              onChange={({ currentTarget }) => setExisting(currentTarget.checked ? 'import' : 'skip')}
            />
            Also import existing files
          </label>
        )}
      </div>
    </FormDialog>
  );
}

type DeleteProps = { readonly subscription: Subscription; readonly onDone: () => void; readonly onClose: () => void };

export function DeleteDialog({ subscription: { subscription_id: id, prefix }, onDone, onClose }: DeleteProps) {
  return (
    <FormDialog
      title="Delete this subscription?"
      submitText="Delete the subscription"
      isDangerous
      send={() => api.deleteSubscription(id)}
      onDone={onDone}
      onClose={onClose}
    >
      <p>
        Files that arrive under “<GivenText text={prefix} />” are no longer imported. Imports that are queued still run,
        and nothing that is loaded is removed.
      </p>
    </FormDialog>
  );
}
