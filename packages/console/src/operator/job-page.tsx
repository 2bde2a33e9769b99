import { useRoute } from 'preact-iso';
import { Fact, Page } from '../components/page.tsx';
import { Notice, ProblemNotice, Skeleton, Status, Time } from '../components/state.tsx';
import { formatBytes, formatCount, formatDuration } from '../format.ts';
import { JobStatus } from './jobs-page.tsx';
import { type JobDetails, type JobFile, operatorApi } from './operator-api.ts';
import './operator.css';
import { CommandList } from './parts.tsx';
import { ageOf } from './times.ts';
import { LiveControl, useLive } from './use-live.tsx';

export function OperatorJobPage() {
  const id = Number(useRoute().params['id']);
  const job = useLive(`job ${id}`, (signal) => operatorApi.getJob(id, signal), 3_000);
  return (
    <Page
      title={`Job ${id}`}
      sub={job.value ? `${job.value.kind} of ${job.value.partner}` : ' '}
      actions={<LiveControl live={job} />}
    >
      {job.value ? (
        <JobRecord job={job.value} now={job.at} />
      ) : job.problem ? (
        <ProblemNotice problem={job.problem} onRetry={job.reload} />
      ) : (
        <Skeleton lines={10} />
      )}
    </Page>
  );
}

function JobRecord({ job, now }: { readonly job: JobDetails; readonly now: number }) {
  return (
    <>
      {job.error && (
        <div class="notice bad">
          <p>
            <strong>{job.error.message}</strong>{' '}
            <a
              href={`/console/operator/incidents#${job.error.code === 'load_abandoned' ? 'InletFilesGivenUp' : 'jobs-fail'}`}
            >
              What to do
            </a>
          </p>
          <p class="small">
            Code <code>{job.error.code}</code>
          </p>
        </div>
      )}
      <section class="card" aria-label="Facts">
        <dl class="facts">
          <Fact name="Status">
            <JobStatus job={job} />
          </Fact>
          <Fact name="Partner">
            <a href={`/console/operator/jobs?partner=${encodeURIComponent(job.partner)}`}>{job.partner}</a>
          </Fact>
          {job.file_path !== '' && (
            <Fact name="Path">
              <code>{job.file_path}</code>
            </Fact>
          )}
          <Fact name="Position in the lane">{formatCount(job.lane_position)}</Fact>
          <Fact name="Submitted">
            <Time at={job.created_at} />
          </Fact>
          <Fact name={job.finished_at === null ? 'Running for' : 'Run time'}>{runTime(job, now)}</Fact>
          <Fact name="Finished">{job.finished_at === null ? 'Not yet' : <Time at={job.finished_at} />}</Fact>
        </dl>
      </section>
      <section class="card stack" aria-labelledby="commands">
        <h2 id="commands">Commands</h2>
        <CommandList cli={job.cli} />
      </section>
      <section class="stack" aria-labelledby="files">
        <h2 id="files">Files</h2>
        {job.files.length === 0 ? <NoFiles job={job} /> : <Files files={job.files} />}
        {job.has_more_files && (
          <p class="small muted">
            Only the first {job.files.length} files are shown. The command above shows up to 1,000.
          </p>
        )}
      </section>
    </>
  );
}

function runTime({ started_at, finished_at }: JobDetails, now: number): string {
  if (started_at === null) return 'Not started';
  if (finished_at === null) return ageOf(started_at, now);
  return formatDuration((Date.parse(finished_at) - Date.parse(started_at)) / 1000);
}

function NoFiles({ job: { kind, status } }: { readonly job: JobDetails }) {
  if (kind === 'delete') return <p class="muted">A delete has no files.</p>;
  return <Notice>{status === 0 ? 'Files are listed when the job starts.' : 'No files were found.'}</Notice>;
}

function Files({ files }: { readonly files: readonly JobFile[] }) {
  return (
    <div class="card flush">
      <table class="blocks">
        <caption class="visually-hidden">Files of the job</caption>
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col">Status</th>
            <th scope="col" class="number">
              Attempts
            </th>
            <th scope="col" class="number">
              Rows
            </th>
            <th scope="col" class="number">
              Accepted
            </th>
            <th scope="col" class="number">
              Size
            </th>
          </tr>
        </thead>
        <tbody>
          {files.map((file) => (
            <tr key={file.file_id}>
              <th scope="row">
                <code>{file.path}</code>
              </th>
              <td data-label="Status">
                <span>
                  <Status status={file.status} /> {file.status < 2 && file.staged && <span class="muted">read</span>}
                  {file.error && (
                    <span class="small muted">
                      <code>{file.error.code}</code> {file.error.message}
                    </span>
                  )}
                </span>
              </td>
              <td data-label="Attempts" class={`number ${file.attempts > 1 ? 'attention' : ''}`}>
                {formatCount(file.attempts)}
              </td>
              <td data-label="Rows" class="number">
                {formatCount(file.rows)}
              </td>
              <td data-label="Accepted" class="number">
                {formatCount(file.accepted_rows)}
              </td>
              <td data-label="Size" class="number">
                {formatBytes(file.bytes)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
