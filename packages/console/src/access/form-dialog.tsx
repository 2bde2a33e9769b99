import type { Answered, Problem } from '@inlet/sdk/browser';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { noteExpiry } from '../api.ts';
import { CopyButton, Dialog } from '../components/page.tsx';
import { ProblemNotice } from '../components/state.tsx';

type Props<T> = {
  readonly title: string;
  readonly submitText: string;
  /** Whether the change removes or disables something. */
  readonly isDangerous?: boolean;
  readonly children: ComponentChildren;
  readonly send: () => Promise<Answered<T>>;
  readonly onDone: (value: T) => void;
  readonly onClose: () => void;
};

/** A dialog that sends one change. If the change is rejected, the dialog stays open and shows the problem. */
export function FormDialog<T>({ title, submitText, isDangerous, children, send, onDone, onClose }: Props<T>) {
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    setSending(true);
    const result = await send();
    setSending(false);
    if (result.ok) return onDone(result.value);
    noteExpiry(result.problem);
    setProblem(result.problem);
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <form class="fields" onSubmit={(event) => void submit(event)}>
        {problem && <ProblemNotice problem={problem} />}
        {children}
        <div class="row">
          <button type="submit" class={isDangerous ? 'danger' : 'primary'} disabled={isSending}>
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

type FieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  readonly isNumber?: boolean;
  readonly maxLength?: number;
  readonly isOptional?: boolean;
};

export function Field({ label, value, onChange, hint, isNumber, maxLength, isOptional = false }: FieldProps) {
  const id = `field-${label.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
  return (
    <div class="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        {...(isNumber ? { inputMode: 'numeric', pattern: '[0-9]*' } : {})}
        maxLength={maxLength}
        required={!isOptional}
        autocomplete="off"
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  );
}

type OverlapProps = { readonly hours: string; readonly onChange: (hours: string) => void; readonly hint: string };

/** How long the old keys keep working after a rotation. */
export function OverlapField({ hours, onChange, hint }: OverlapProps) {
  return <Field label="Overlap in hours" isNumber value={hours} onChange={onChange} maxLength={3} hint={hint} />;
}

type SecretProps = {
  readonly name: string;
  readonly secret: string | null;
  /** The instructions that are shown if the secret is null. */
  readonly ifLost?: string;
  /** The text above the secret. */
  readonly children?: ComponentChildren;
  readonly onClose: () => void;
};

/** Shows a secret once, for the user to copy. */
export function SecretDialog({ name, secret, ifLost, children, onClose }: SecretProps) {
  return (
    <Dialog title={`Your new ${name}`} onClose={onClose}>
      {secret === null ? (
        <p>{ifLost ?? `The response was lost. Revoke the new ${name} in the list, and create another one.`}</p>
      ) : (
        <>
          <p>Copy it now. It is shown only once.</p>
          {children}
          <code class="secret">{secret}</code>
        </>
      )}
      <div class="row">
        {secret !== null && <CopyButton text={secret} isPrimary />}
        <button type="button" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
