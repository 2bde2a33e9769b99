import type { Problem } from '@inlet/sdk/browser';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ProblemNotice } from '../components/state.tsx';

type Props = {
  readonly submitText: string;
  readonly hint: string;
  readonly incomplete: string | null;
  readonly children?: ComponentChildren;
  /** Returns the problem if the path was not accepted. */
  readonly onSubmit: (path: string) => Promise<Problem | null>;
};

/** Loads files that are already in the storage. */
export function PathForm({ submitText, hint, incomplete, children, onSubmit }: Props) {
  const [path, setPath] = useState('');
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    setSending(true);
    setProblem(await onSubmit(path));
    setSending(false);
  }
  return (
    <form class="card fields" onSubmit={(event) => void submit(event)}>
      {problem && <ProblemNotice problem={problem} />}
      <div class="field">
        <label htmlFor="path">Path of a file or folder</label>
        <input
          id="path"
          required
          maxLength={1200}
          value={path}
          aria-describedby="path-hint"
          onInput={(event) => setPath(event.currentTarget.value)}
        />
        <span class="hint" id="path-hint">
          {hint}
        </span>
      </div>
      {children}
      <div class="row">
        <button type="submit" class="primary" disabled={isSending || incomplete !== null}>
          {isSending ? 'Sending …' : submitText}
        </button>
        {incomplete !== null && <span class="small muted">{incomplete}</span>}
      </div>
    </form>
  );
}

type WaysProps = { readonly path: string; readonly isPath: boolean };

/**
 * Chooses between uploading files and entering a path. The choice is in the address, so that both forms can be linked.
 */
export function Ways({ path, isPath }: WaysProps) {
  return (
    <nav class="ways" aria-label="Where the files are">
      <a href={path} aria-current={isPath ? undefined : 'page'}>
        On this computer
      </a>
      <a href={`${path}?from=path`} aria-current={isPath ? 'page' : undefined}>
        Already uploaded
      </a>
    </nav>
  );
}
