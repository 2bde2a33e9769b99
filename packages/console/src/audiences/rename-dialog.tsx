import type { AudienceDetails, Problem } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api, noteExpiry } from '../api.ts';
import { Dialog } from '../components/page.tsx';
import { ProblemNotice } from '../components/state.tsx';

type Props = { readonly audience: AudienceDetails; readonly onClose: (isRenamed: boolean) => void };

export function RenameDialog({ audience: { audience_id: id, name: current }, onClose }: Props) {
  const [name, setName] = useState(current);
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);

  async function rename(): Promise<void> {
    setSending(true);
    const result = await api.appendFiles(id, { name });
    setSending(false);
    if (result.ok) return onClose(true);
    noteExpiry(result.problem);
    setProblem(result.problem);
  }

  return (
    <Dialog title="Rename this audience" onClose={() => onClose(false)}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void rename();
        }}
      >
        {problem && <ProblemNotice problem={problem} />}
        <div class="field">
          <label htmlFor="new-name">Name</label>
          <input
            id="new-name"
            required
            maxLength={256}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </div>
        <div class="row">
          <button type="submit" class="primary" disabled={isSending || name.trim() === '' || name === current}>
            Rename
          </button>
          <button type="button" onClick={() => onClose(false)}>
            Keep the name
          </button>
        </div>
      </form>
    </Dialog>
  );
}
