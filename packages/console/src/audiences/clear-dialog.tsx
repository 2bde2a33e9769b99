import type { AudienceDetails, Problem } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api, noteExpiry, useApi } from '../api.ts';
import { GivenText } from '../components/given-text.tsx';
import { Dialog } from '../components/page.tsx';
import { ProblemNotice, Skeleton } from '../components/state.tsx';
import { formatCount } from '../format.ts';

type Props = { readonly audience: AudienceDetails; readonly onClose: (isCleared: boolean) => void };

const entriesInRecord = 1_000;
const filesCounted = 500;
const openFiles: Readonly<Record<string, string | number>> = { limit: filesCounted, status: '0,1' };

/** Names what a clear cancels and deletes before it happens. It cannot be undone. */
export function ClearDialog({ audience: { audience_id: id, name, unique_devices, file, status }, onClose }: Props) {
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const open = useApi(`open files ${id}`, (signal) => api.listAudienceFiles(id, { query: openFiles, signal }), {
    isPaused: status > 1,
  });

  async function clear(): Promise<void> {
    setSending(true);
    const result = await api.clearAudience(id);
    setSending(false);
    if (result.ok) {
      onClose(true);
      return;
    }
    noteExpiry(result.problem);
    setProblem(result.problem);
  }

  const loaded = file.filter((entry) => entry.status === 2).length;
  return (
    <Dialog title="Clear this audience?" onClose={() => onClose(false)}>
      <p>
        Clearing{' '}
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
          The entries of <strong>{countUpTo(loaded, file.length, entriesInRecord)}</strong> loaded{' '}
          {loaded === 1 ? 'file' : 'files'} are removed. The files themselves stay in the storage.
        </li>
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
      <p class="small muted">
        The audience, its ID, and its name stay. Files that you append afterward are loaded as usual.
      </p>
      {problem && <ProblemNotice problem={problem} />}
      <div class="row">
        <button type="button" class="danger" disabled={isSending} onClick={() => void clear()}>
          {isSending ? 'Clearing …' : 'Clear the audience'}
        </button>
        <button type="button" onClick={() => onClose(false)}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}

const filesNamed = 5;

/** A response with the most entries may not contain all of them. */
function countUpTo(count: number, entries: number, most: number): string {
  return entries < most ? formatCount(count) : `${formatCount(count)} or more`;
}
