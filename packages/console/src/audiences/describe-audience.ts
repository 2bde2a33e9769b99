import { formatCount } from '../format.ts';
import type { AudienceDetails, AudienceHistoryEntry } from '@inlet/sdk/browser';

type Step = { readonly name: string; readonly devices: number; readonly share: number; readonly note: string };

/** The funnel from uploaded to matched devices. Shares refer to the first step that has devices. */
export function funnelOf(
  audience: Pick<AudienceDetails, 'uploaded_devices' | 'unique_devices' | 'matched_devices'>,
): readonly [Step, Step, Step] {
  const { uploaded_devices: uploaded, unique_devices: unique, matched_devices: matched } = audience;
  const whole = Math.max(uploaded, unique, 1);
  return [
    { name: 'Uploaded', devices: uploaded, share: uploaded / whole, note: 'in all loaded files' },
    { name: 'Unique', devices: unique, share: unique / whole, note: 'without duplicates' },
    { name: 'Matched', devices: matched, share: matched / whole, note: 'known to the warehouse' },
  ];
}

/** The API rounds smaller audiences, so that the count does not reveal a single device. */
const exactFrom = 1_000;

export function isMatchRounded({ unique_devices }: Pick<AudienceDetails, 'unique_devices'>): boolean {
  return unique_devices > 0 && unique_devices < exactFrom;
}

/** Whether an entry still makes the audience fail. A dismissed entry does not. */
export function isFailed({ status, dismissed_at }: AudienceDetails['file'][number]): boolean {
  return status === 3 && dismissed_at === null;
}

/**
 * Changes when the reasons may have changed: a file has failed, was dismissed, or has rejected rows. The time in the
 * record changes whenever a load progresses.
 */
export function versionOfReasons({
  status,
  failed_files,
  rejected_rows,
}: Pick<AudienceDetails, 'status' | 'failed_files' | 'rejected_rows'>): string {
  return `${status < 2 ? 'open' : 'ended'} ${failed_files} ${rejected_rows}`;
}

type Append = Pick<
  NonNullable<AudienceHistoryEntry['append']>,
  'status' | 'cleared' | 'files' | 'cancel_requested_at' | 'file_path'
>;

/**
 * The actions that the API accepts for an append in its current state. It rejects a retry of the failed files if
 * they have been loaded since then. A customer can load only files in `uploadFolder`, which is null for a partner.
 */
export function actionsOn(append: Append, uploadFolder: string | null): readonly ('cancel' | 'failed' | 'all')[] {
  const { status, cleared, files, cancel_requested_at } = append;
  if (cleared) return [];
  if (status < 2) return cancel_requested_at === null ? ['cancel'] : [];
  if (status === 2 || isRetriedByPartner(append, uploadFolder)) return [];
  return files === null || files.failed === files.all ? ['all'] : ['failed', 'all'];
}

/** Whether an append could be retried, but not by the customer who is signed in. */
export function isRetriedByPartner(
  { status, cleared, file_path }: Pick<Append, 'status' | 'cleared' | 'file_path'>,
  uploadFolder: string | null,
): boolean {
  return uploadFolder !== null && status === 3 && !cleared && !file_path.startsWith(uploadFolder);
}

type Described = Pick<AudienceDetails, 'status' | 'total_files' | 'failed_files' | 'progress'>;

/** One sentence about the state of an audience and what to do next. */
export function sentenceOf({ status, total_files, failed_files: failed, progress }: Described): string {
  if (total_files === 0) return 'This audience is empty. Append files to fill it.';
  if (status < 2) {
    const ahead = progress.queue_position;
    if (ahead > 0) return `Waiting behind ${formatCount(ahead)} earlier ${ahead === 1 ? 'job' : 'jobs'}.`;
    return status === 0 ? 'It starts next.' : 'Loading files.';
  }
  if (status === 2) return 'All files are loaded.';
  return `${formatCount(failed)} ${failed === 1 ? 'file' : 'files'} failed. Fix and append ${failed === 1 ? 'it' : 'them'} again, or dismiss the failed ${failed === 1 ? 'entry' : 'entries'}.`;
}
