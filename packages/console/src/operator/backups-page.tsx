import { Page } from '../components/page.tsx';
import { Empty, ProblemNotice, Skeleton, Time } from '../components/state.tsx';
import { formatBytes, formatDuration, formatExactTime } from '../format.ts';
import { type Backup, type Backups, operatorApi } from './operator-api.ts';
import './operator.css';
import { CommandList } from './parts.tsx';
import { ageOf, formatAge } from './times.ts';
import { LiveControl, useLive } from './use-live.tsx';

/** The alert InletBackupOverdue has the same threshold. */
const overdueSeconds = 48 * 3_600;

export function BackupsPage() {
  const backups = useLive('backups', (signal) => operatorApi.listBackups(signal), 15_000);
  return (
    <Page
      title="Backups"
      sub="Backups taken by “inlet backup”. Backups by other tools are not listed."
      actions={<LiveControl live={backups} />}
    >
      {backups.value ? (
        <BackupRecords backups={backups.value} now={backups.at} />
      ) : backups.problem ? (
        <ProblemNotice problem={backups.problem} onRetry={backups.reload} />
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

function BackupRecords({
  backups: { newest_complete, backups, cli },
  now,
}: {
  readonly backups: Backups;
  readonly now: number;
}) {
  const isOverdue = newest_complete === null || newest_complete.age_seconds > overdueSeconds;
  return (
    <>
      <p class={`summary ${isOverdue ? 'attention' : ''}`}>{summarizeBackups(newest_complete)}</p>
      <section class="card stack" aria-labelledby="commands">
        <h2 id="commands">Commands</h2>
        <CommandList cli={cli} />
      </section>
      {backups.length === 0 ? (
        <div class="card">
          <Empty title="No backups are recorded">
            <p>Take the first backup with the command above, and run it every day.</p>
          </Empty>
        </div>
      ) : (
        <div class="card flush">
          <table class="blocks">
            <caption class="visually-hidden">Newest attempts to take a backup</caption>
            <thead>
              <tr>
                <th scope="col">Started</th>
                <th scope="col">Outcome</th>
                <th scope="col">Restores the state of</th>
                <th scope="col" class="number">
                  Duration
                </th>
                <th scope="col" class="number">
                  Size
                </th>
                <th scope="col">Destination</th>
              </tr>
            </thead>
            <tbody>
              {backups.map((backup) => (
                <BackupRow key={backup.backup_id} backup={backup} now={now} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function summarizeBackups(newest: Backups['newest_complete']): string {
  if (!newest) return 'No complete backups are recorded.';
  return `The newest complete backup is ${formatAge(newest.age_seconds)} old.`;
}

function BackupRow({ backup, now }: { readonly backup: Backup; readonly now: number }) {
  const seconds = (Date.parse(backup.finished_at) - Date.parse(backup.started_at)) / 1000;
  return (
    <tr>
      <th scope="row">
        <Time at={backup.started_at} />
      </th>
      <td data-label="Outcome">
        <span>
          <span class={`status ${backup.outcome === 'complete' ? 'done' : 'failed'}`}>
            {backup.outcome === 'complete' ? 'Complete' : 'Failed'}
          </span>
          {backup.error !== null && <code class="below small">{backup.error}</code>}
        </span>
      </td>
      <td data-label="Restores the state of">
        {backup.taken_at === null ? (
          '–'
        ) : (
          <span title={`${ageOf(backup.taken_at, now)} ago`}>{formatExactTime(backup.taken_at)}</span>
        )}
      </td>
      <td data-label="Duration" class="number">
        {formatDuration(seconds)}
      </td>
      <td data-label="Size" class="number">
        {backup.bytes === null ? '–' : formatBytes(backup.bytes)}
      </td>
      <td data-label="Destination">
        <code>{backup.destination}</code>
      </td>
    </tr>
  );
}
