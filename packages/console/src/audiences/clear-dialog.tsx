import type { AudienceDetails, Problem } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api, noteExpiry, useApi } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { Dialog } from '../components/page.tsx';
import { ProblemNotice, Skeleton } from '../components/state.tsx';
import { formatCount } from '../format.ts';

type Props = {
  readonly audience: AudienceDetails;
  /** Both remove all devices and cancel all loads. Deleting also removes the audience itself. */
  readonly does: 'clear' | 'delete';
  readonly onClose: (isDone: boolean) => void;
};

const texts = {
  clear: {
    title: 'Clear this audience?',
    gerund: 'Clearing',
    after: 'The audience, its ID, and its name stay. Files that you append afterward are loaded as usual.',
    button: 'Clear the audience',
    sending: 'Clearing …',
  },
  delete: {
    title: 'Delete this audience?',
    gerund: 'Deleting',
    after: 'The ID cannot be used again. To build the audience again, create a new one from the files.',
    button: 'Delete the audience',
    sending: 'Deleting …',
  },
} as const;

const filesCounted = 500;
const openFiles: Readonly<Record<string, string | number>> = { limit: filesCounted, status: '0,1' };

/** Lists what a clear or a delete will cancel and remove, because neither can be undone. */
export function ClearDialog({ audience, does, onClose }: Props) {
  const { audience_id: id, name, unique_devices, total_files: entries, status } = audience;
  const text = texts[does];
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const open = useApi(`open files ${id}`, (signal) => api.listAudienceFiles(id, { query: openFiles, signal }), {
    isPaused: status > 1,
  });

  async function send(): Promise<void> {
    setSending(true);
    const result = await (does === 'clear' ? api.clearAudience(id) : api.deleteAudience(id));
    setSending(false);
    if (result.ok) {
      onClose(true);
      return;
    }
    noteExpiry(result.problem);
    setProblem(result.problem);
  }

  return (
    <Dialog title={text.title} onClose={() => onClose(false)}>
      <p>
        {text.gerund}{' '}
        <strong>
          “<GivenText text={name} />”
        </strong>{' '}
        takes effect immediately and cannot be undone:
      </p>
      <ul class="consequences">
        <li>
          <strong>{formatCount(unique_devices)}</strong> {unique_devices === 1 ? 'device is' : 'devices are'} deleted
          from the audience.
        </li>
        <li>
          The entries of <strong>{formatCount(entries)}</strong> {entries === 1 ? 'file' : 'files'} are removed. The
          files themselves stay in the storage.
        </li>
        {does === 'delete' && (
          <li>
            The <strong>name</strong>, the <strong>reports</strong>, and the <strong>history</strong> of the audience
            are deleted, and links to its reports stop working.
          </li>
        )}
        {status < 2 && (
          <li>
            {open.value ? (
              <>
                <strong>{countUpTo(open.value.length, open.value.length, filesCounted)}</strong> open{' '}
                {open.value.length === 1 ? 'file is' : 'files are'} canceled:
                <ul>
                  {open.value.slice(0, filesNamed).map(({ file_id, s3_path }) => (
                    <li key={file_id}>
                      <GivenText text={s3_path} />
                    </li>
                  ))}
                  {open.value.length > filesNamed && <li>and {formatCount(open.value.length - filesNamed)} more</li>}
                </ul>
              </>
            ) : open.problem ? (
              'All open loads are canceled.'
            ) : (
              <Skeleton />
            )}
          </li>
        )}
      </ul>
      <p class="small muted">{text.after}</p>
      {problem && <ProblemNotice problem={problem} />}
      <div class="row">
        <button type="button" class="danger" disabled={isSending} onClick={() => void send()}>
          {isSending ? text.sending : text.button}
        </button>
        <button type="button" onClick={() => onClose(false)}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}

const filesNamed = 5;

/** A response with the maximum number of entries may be incomplete. */
function countUpTo(count: number, entries: number, most: number): string {
  return entries < most ? formatCount(count) : `${formatCount(count)} or more`;
}
