import { GivenText } from '../components/given-text.tsx';
import { RowText } from '../components/rejected-rows.tsx';
import { Bar } from '../components/state.tsx';
import { formatBytes, formatCount } from '../format.ts';
import type { CheckedFile } from './check-file.ts';
import { wouldFail } from './describe-upload.ts';
import type { Entry } from './entry.ts';
import type { Remembered } from './resume.ts';
import type { UploadJob } from './upload-job.ts';

/** The number of rows on the page. The other files are only counted. */
const shownFiles = 100;

type Props = {
  readonly job: UploadJob;
  readonly entries: readonly Entry[];
  readonly earlier: readonly Remembered[];
  readonly isLocked: boolean;
};

/** Everything that will be loaded: the chosen files, and those of an interrupted upload. Files that need attention come first. */
export function FileList({ job, entries, earlier, isLocked }: Props) {
  const total = entries.reduce((sum, { file }) => sum + file.size, 0);
  const files = entries.length + earlier.length;
  const totalWithEarlier = earlier.reduce((sum, { size }) => sum + size, total);
  const shown = entries.toSorted((one, other) => rankOf(one) - rankOf(other)).slice(0, shownFiles);
  const done = entries.reduce((sum, { step, bytes, file }) => sum + (step === 'ready' ? file.size : bytes), 0);
  const isBusy = job.isChecking || job.isUploading;
  return (
    <section class="card stack" aria-labelledby="chosen-files">
      <div class="row">
        <h2 id="chosen-files">
          {formatCount(files)} {files === 1 ? 'file' : 'files'}, {formatBytes(totalWithEarlier)}
        </h2>
        <output class="push small muted">
          {job.isChecking ? 'Checking in your browser' : job.isUploading ? 'Uploading' : ''}
        </output>
      </div>
      <div style={{ visibility: isBusy ? 'visible' : 'hidden' }}>
        <Bar share={total === 0 ? 0 : done / total} label={job.isUploading ? 'Uploaded' : 'Checked'} />
      </div>
      <ul class="chosen">
        {shown.map((entry) => (
          <li key={entry.file.name}>
            <ChosenFile entry={entry} onRemove={isLocked ? null : () => void job.remove([entry.file.name])} />
          </li>
        ))}
      </ul>
      {entries.length > shownFiles && (
        <p class="small muted">and {formatCount(entries.length - shownFiles)} more files</p>
      )}
      {earlier.length > 0 && <EarlierFiles job={job} earlier={earlier} isLocked={isLocked} />}
      <p class="small muted">
        Only {files === 1 ? 'this file is' : 'these files are'} loaded, from the folder <code>{job.folder}</code>
      </p>
    </section>
  );
}

type EarlierProps = Pick<Props, 'job' | 'earlier' | 'isLocked'>;

/** Files that an interrupted upload has stored. They are in the same folder, so they are loaded too. */
function EarlierFiles({ job, earlier, isLocked }: EarlierProps) {
  return (
    <div class="stack">
      <div class="row">
        <h3>Uploaded before the interruption</h3>
        {!isLocked && (
          <button type="button" class="push" onClick={() => job.startOver()}>
            Leave {earlier.length === 1 ? 'it' : 'them'} out
          </button>
        )}
      </div>
      <ul class="chosen">
        {earlier.slice(0, shownFiles).map(({ upload_id, name, size, is_gzip }) => (
          <li key={upload_id}>
            <div class="row">
              <strong class="name">
                <GivenText text={name} />
              </strong>
              <span class="small muted">
                {formatBytes(size)} · {is_gzip ? 'gzip' : 'plain'}
              </span>
              <span class="small push step uploaded">Uploaded</span>
            </div>
          </li>
        ))}
      </ul>
      {earlier.length > shownFiles && (
        <p class="small muted">and {formatCount(earlier.length - shownFiles)} more files</p>
      )}
    </div>
  );
}

function rankOf(entry: Entry): number {
  if (entry.step === 'failed' || wouldFail(entry)) return 0;
  if (entry.checked && entry.checked.rows.bad > 0) return 1;
  return entry.step === 'checking' || entry.step === 'uploading' ? 2 : 3;
}

function ChosenFile({ entry, onRemove }: { readonly entry: Entry; readonly onRemove: (() => void) | null }) {
  const { file, isGzip, checked } = entry;
  return (
    <>
      <div class="row">
        <strong class="name">
          <GivenText text={file.name} />
        </strong>
        <span class="small muted">
          {formatBytes(file.size)} · {isGzip ? 'gzip' : 'plain'}
        </span>
        <span class={`small push step ${entry.step}`}>{stepOf(entry)}</span>
        {onRemove && (
          <button type="button" onClick={onRemove}>
            Remove<span class="visually-hidden"> {file.name}</span>
          </button>
        )}
      </div>
      {entry.failure !== null && <p class="bad">{entry.failure}</p>}
      {checked?.fault && <p class="bad">{checked.fault.detail}</p>}
      {checked === null && <p class="bad">The file could not be read. Choose it again.</p>}
      {checked && checked.rows.bad > 0 && <Reasons checked={checked} />}
    </>
  );
}

function stepOf({ step, bytes, file, checked, resumed }: Entry): string {
  const percent = `${Math.floor((bytes / Math.max(1, file.size)) * 100)}%`;
  if (step === 'waiting') return 'Waiting to be checked';
  if (step === 'checking') return `Checking, ${percent}`;
  if (step === 'uploading') return `Uploading, ${percent}`;
  if (step === 'uploaded') return 'Uploaded';
  if (step === 'failed') return 'Not uploaded';
  if (!checked) return checked === undefined ? 'Not checked' : '';
  const resumes = resumed ? ' · resumes' : '';
  if (checked.fault) return 'Would fail';
  const { good, bad } = checked.rows;
  return bad === 0
    ? `${formatCount(good)} rows, all valid${resumes}`
    : `${formatCount(good)} rows valid, ${formatCount(bad)} rejected${resumes}`;
}

function Reasons({ checked: { rows } }: { readonly checked: CheckedFile }) {
  return (
    <details class="found">
      <summary>
        {rows.reasons.length === 1 ? '1 reason' : `${formatCount(rows.reasons.length)} reasons`} and the first rows
      </summary>
      <ul>
        {rows.reasons.map(({ code, count, message }) => (
          <li key={code}>
            <strong>{formatCount(count)}</strong> · {message} <code class="muted">{code}</code>
          </li>
        ))}
      </ul>
      <div class="scroll">
        <table>
          <caption class="visually-hidden">First rejected rows</caption>
          <thead>
            <tr>
              <th scope="col" class="number">
                Line
              </th>
              <th scope="col">Column</th>
              <th scope="col">Reason</th>
              <th scope="col">Text</th>
            </tr>
          </thead>
          <tbody>
            {rows.firstBad.map(({ row, column, code, text }) => (
              <tr key={row}>
                <th scope="row" class="number">
                  {formatCount(row)}
                </th>
                <td>{column ?? 'whole line'}</td>
                <td>
                  <code>{code}</code>
                </td>
                <td>
                  <RowText text={text} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
