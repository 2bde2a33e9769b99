import type { Problem, Rejects } from '@inlet/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { noteExpiry } from '../api.ts';
import { formatBytes, formatCount } from '../format.ts';
import { CredentialsDialog } from './credentials-dialog.tsx';
import { type RejectsExport, type RejectsFiles, followRejects, maxFilesShown } from './follow-rejects.ts';
import { Bar, ProblemNotice, Status } from './state.tsx';
import { visibleText } from './visible-text.ts';

/** Exports all rejected rows, shows the progress, and links to the files. */
export function AllRejects({ of }: { readonly of: RejectsExport }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [found, setFound] = useState<Rejects | null>(null);
  const [files, setFiles] = useState<RejectsFiles>([]);
  const [isFollowing, setFollowing] = useState(false);
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    if (!isFollowing) return undefined;
    const stop = new AbortController();
    void followRejects(of, { onRejects: setFound, onFiles: setFiles, onProblem: fail }, stop.signal).then(() =>
      setFollowing(false),
    );
    return () => stop.abort();
  }, [isFollowing]);
  async function request(): Promise<void> {
    const result = await of.request();
    if (result.ok) follow(result.value);
    else fail(result.problem);
  }
  function fail(failed: Problem): void {
    noteExpiry(failed);
    setProblem(failed);
  }
  function follow(requested: Rejects): void {
    setAsking(false);
    setProblem(null);
    setFound(requested);
    setFollowing(true);
  }
  return (
    <section class="stack" aria-label="All rejected rows">
      {problem && <ProblemNotice problem={problem} />}
      <div class="row">
        <button
          type="button"
          disabled={isFollowing}
          onClick={() => (of.needsCredentials ? setAsking(true) : void request())}
        >
          Export all rejected rows
        </button>
        {found && <Status status={found.status} />}
        {found && <span aria-live="polite">{formatCount(found.rows)} rows exported</span>}
      </div>
      {isFollowing && found && (
        <Bar share={found.bytes_total === 0 ? 0 : found.bytes_read / found.bytes_total} label="Export" />
      )}
      {files.length > 0 && (
        <ul>
          {files.map(({ file, url, bytes, rows, error }) => (
            <li key={file}>
              {url === null ? visibleText(file) : <a href={url}>{visibleText(file)}</a>} · {formatCount(rows)} rows ·{' '}
              {error === null ? formatBytes(bytes) : error.message}
            </li>
          ))}
        </ul>
      )}
      {isAsking && (
        <CredentialsDialog
          title="Export all rejected rows"
          submitText="Export"
          send={of.request}
          onDone={follow}
          onClose={() => setAsking(false)}
        />
      )}
      {files.length === maxFilesShown && <p>Use the API to list more files, or the command line to download them.</p>}
    </section>
  );
}
