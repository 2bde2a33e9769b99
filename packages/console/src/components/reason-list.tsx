import type { LoadError } from '@inlet/sdk/browser';
import { useApi } from '../api.ts';
import { formatCount } from '../format.ts';
import { type JobOfErrors, listErrors, pageOfJob } from './error-list.ts';
import { GivenText } from './given-text.tsx';
import { addressOf } from './list-filters.ts';
import type { Reason } from './reasons.ts';
import { RowText, keyOfError } from './rejected-rows.tsx';
import { ProblemNotice, Skeleton } from './state.tsx';
import './lists.css';

type Props = {
  readonly job: JobOfErrors;
  readonly reasons: readonly Reason[];
  /** Changes when the rows must be reloaded. */
  readonly version: string | number;
};

const rowsShown = 3;
/**
 * Rows are shown only for the first reasons, because each reason takes one request. The rows of the others are one
 * click away.
 */
const reasonsWithRows = 8;

/** Shows what failed and why: each reason with its first rows and a link to all rows. */
export function ReasonList({ job, reasons, version }: Props) {
  return (
    <ul class="reasons">
      {reasons.map((reason, index) => (
        <li key={`${reason.of} ${reason.code}`} class="stack" style={{ gap: '8px' }}>
          <div class="row">
            <h3>{reason.message}</h3>
          </div>
          <div class="row small">
            <span>
              <strong>{countOf(reason)}</strong> <code class="muted">{reason.code}</code>
            </span>
            {reason.of !== 'job' && (
              <a href={addressOf(`${pageOfJob(job)}/errors`, { code: reason.code })}>
                {reason.of === 'rows' ? 'Show the rejected rows' : 'Show the failed files'}
                <span class="visually-hidden">: {reason.message}</span>
              </a>
            )}
          </div>
          {reason.of !== 'job' && index < reasonsWithRows && <FirstRows job={job} reason={reason} version={version} />}
        </li>
      ))}
    </ul>
  );
}

function countOf({ of, count }: Reason): string {
  if (of === 'job') return 'The whole job';
  const noun = of === 'rows' ? 'row' : 'file';
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

type FirstRowsProps = { readonly job: JobOfErrors; readonly reason: Reason; readonly version: string | number };

function FirstRows({ job, reason: { code, count, message }, version }: FirstRowsProps) {
  const expected = Math.min(rowsShown, count);
  const { value, problem } = useApi(`${job.kind} ${job.id} ${code} ${version}`, (signal) =>
    listErrors(job, { code, limit: rowsShown }, signal),
  );
  if (problem) return <ProblemNotice problem={problem} />;
  if (!value) return <Skeleton lines={expected} height={28} />;
  return (
    <div class="scroll">
      <table class="blocks">
        <caption class="visually-hidden">First rows: {message}</caption>
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col" class="number">
              Line
            </th>
            <th scope="col">Column</th>
            <th scope="col">Text</th>
          </tr>
        </thead>
        <tbody>
          {value.map((error) => (
            <FirstRow key={keyOfError(error)} error={error} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FirstRow({ error: { file, row, column, text, message } }: { readonly error: LoadError }) {
  return (
    <tr>
      <th scope="row">{file !== null && <GivenText text={file} />}</th>
      <td class="number" data-label="Line">
        {row === null ? '–' : formatCount(row)}
      </td>
      <td data-label="Column">{row === null ? '–' : (column ?? <span class="muted">whole line</span>)}</td>
      <td data-label="Text">{text === null ? message : <RowText text={text} />}</td>
    </tr>
  );
}
