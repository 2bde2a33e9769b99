import type { Answered, RetryImport } from '@inlet/sdk/browser';
import { useId, useState } from 'preact/hooks';
import { Choices } from '../upload/choices.tsx';
import '../upload/upload.css';
import { Dialog } from './page.tsx';
import { ProblemNotice } from './state.tsx';
import { type ChangeOptions, useChange } from './use-change.ts';

export type Credentials = NonNullable<RetryImport['credentials']>;

type Props<T> = {
  readonly title: string;
  readonly submitText: string;
  readonly send: (credentials: Credentials, options: ChangeOptions) => Promise<Answered<T>>;
  readonly onDone: (value: T) => void;
  readonly onClose: () => void;
};

const ways = [
  ['keys', 'An access key'],
  ['role', 'A role'],
] as const;

/**
 * Asks for the credentials of the partner's own bucket. The secrets exist only in the fields of the form, which are
 * cleared when the form is sent.
 */
export function CredentialsDialog<T>({ title, submitText, send, onDone, onClose }: Props<T>) {
  const [way, setWay] = useState<'keys' | 'role'>('keys');
  const change = useChange();
  async function submit(form: HTMLFormElement): Promise<void> {
    if (change.isSending) return;
    const credentials = credentialsIn(new FormData(form));
    for (const secret of form.querySelectorAll<HTMLInputElement>('input[type="password"]')) secret.value = '';
    const made = await change.send((options) => send(credentials, options));
    if (made) onDone(made.value);
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="fields"
        onSubmit={(event) => {
          event.preventDefault();
          void submit(event.currentTarget);
        }}
      >
        {change.problem && <ProblemNotice problem={change.problem} />}
        <p>
          The files are in your own bucket. Inlet reads them with these credentials, and deletes the credentials when
          the job ends.
        </p>
        <Choices
          legend="Inlet reads your bucket with"
          name="way"
          value={way}
          choices={ways}
          onChange={(chosen) => setWay(chosen)}
        />
        <Input name="region" label="Bucket region" maxLength={64} />
        {way === 'role' ? (
          <Input name="roleArn" label="Role ARN" maxLength={2_048} />
        ) : (
          <>
            <Input name="accessKeyId" label="Access key ID" maxLength={256} />
            <Input name="secretAccessKey" label="Secret access key" maxLength={256} isSecret />
            <Input
              name="sessionToken"
              label="Session token"
              maxLength={4_096}
              hint="Only for temporary credentials."
              isSecret
              isOptional
            />
          </>
        )}
        <div class="row">
          <button type="submit" class="primary" disabled={change.isSending}>
            {submitText}
          </button>
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Omits the fields that are empty or hidden. */
function credentialsIn(form: FormData): Credentials {
  const given = Object.fromEntries(
    [...form].flatMap(([name, value]) => (typeof value === 'string' && value !== '' ? [[name, value.trim()]] : [])),
  );
  const { accessKeyId, secretAccessKey, sessionToken, roleArn, region = '' } = given;
  return {
    ...(accessKeyId === undefined ? {} : { accessKeyId }),
    ...(secretAccessKey === undefined ? {} : { secretAccessKey }),
    ...(sessionToken === undefined ? {} : { sessionToken }),
    ...(roleArn === undefined ? {} : { roleArn }),
    region,
  };
}

type InputProps = {
  readonly name: keyof Credentials;
  readonly label: string;
  readonly maxLength: number;
  readonly hint?: string;
  readonly isSecret?: boolean;
  readonly isOptional?: boolean;
};

function Input({ name, label, maxLength, hint, isSecret = false, isOptional = false }: InputProps) {
  const id = useId();
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        {...(isSecret ? { type: 'password' as const } : {})}
        maxLength={maxLength}
        required={!isOptional}
        autocomplete="off"
        spellcheck={false}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
      />
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}
