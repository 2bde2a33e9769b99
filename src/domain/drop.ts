import { Failure } from './failure.ts';

// California's Delete Request and Opt-out Platform (DROP). A cycle downloads a list of hashed device IDs, erases and
// suppresses the devices, and answers every item in the list.

/**
 * The steps of a cycle, in order. An interrupted step is repeated from its start.
 *
 * - `download`: the archive is fetched and stored. DROP delivers it once.
 * - `read`: the items in the archive are written to every shard.
 * - `suppress`: the hashes are added to the suppression list, and withdrawn hashes are removed.
 * - `match`: the stored devices with these hashes are listed.
 * - `erase`: workers erase the listed devices.
 * - `verify`: the remaining rows are counted on every replica.
 * - `answer`: the files with the status of each item are stored.
 * - `upload`: the files are sent.
 */
export const dropSteps = [
  'download',
  'read',
  'suppress',
  'match',
  'erase',
  'verify',
  'answer',
  'upload',
  'done',
] as const;
export type DropStep = (typeof dropSteps)[number];

/**
 * Whether an archive that the operator provides can be used. Otherwise, it would be left for the next cycle, and DROP
 * does not accept answers twice.
 */
export function acceptsArchive(latest: DropStep): boolean {
  return latest === 'download' || latest === 'read' || latest === 'done';
}

/** What a cycle waits for, if it cannot continue. */
export const dropWaits = ['opening', 'archive', 'previous_batch', 'jobs', 'erasure', 'drop'] as const;
export type DropWait = (typeof dropWaits)[number];

/** The time between two tries, unless DROP specifies one. */
export const dropWaitSeconds: Readonly<Record<DropWait, number>> = {
  opening: 60,
  archive: 60,
  previous_batch: 3600,
  jobs: 5,
  erasure: 5,
  drop: 60,
};

/** The longest wait that DROP can ask for. */
export const maxRetryAfterSeconds = 86_400;

/** A broker must fetch the list, and delete its devices, at least this often. */
const dropDutyDays = 45;

/** Maximum number of items in an archive, across all of its lists. */
export const maxDropItems = 10_000_000;

/** Maximum size of an archive, and of each decompressed list in it. */
export const maxArchiveBytes = 2_000_000_000;

/** Maximum number of items in one uploaded file. */
export const answersPerFile = 1_000_000;

/** Maximum number of items in an amendment. */
const maxAmendedItems = 100_000;

/** The statuses that DROP accepts. */
export const dropStatus = { exempt: 2, deleted: 3, optedOut: 4, notFound: 5 } as const;
export type DropStatus = (typeof dropStatus)[keyof typeof dropStatus];

const itemPattern = /^[A-Za-z0-9]{12}$/;

const archivePattern = /^(\d{8}_\d{4})_DROP\.zip$/;
const listPattern = /^(\d{8}_\d{4})_([A-Za-z]{1,20})\.csv$/;

export const deviceList = 'MAID';
const withdrawnList = 'Removed';

export type ListFile = { readonly name: string; readonly list: string };
export type ListContent = { readonly kind: 'devices' | 'withdrawn' | 'other'; readonly header: string };

/** The name under which an archive is stored. An archive keeps its own name if the name has the form that DROP uses. */
export function archiveNameOf(given: string | null, sha256: string): string {
  return given !== null && archivePattern.test(given) ? given : `${sha256.slice(0, 16)}.zip`;
}

/** The day in the name of an archive, on which DROP created it. Null if the name contains no day or a future one. */
export function dayOfArchive(name: string, now: Date): Date | null {
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)_\d{4}_DROP/.exec(name) ?? [];
  const time = new Date(`${year}-${month}-${day}T00:00:00Z`);
  return time <= now ? time : null;
}

/** The lists in an archive. Throws unless all files are lists for the same day and broker. */
export function listsOfArchive(names: readonly string[]): readonly ListFile[] {
  const days = new Set<string | undefined>();
  const lists = names.map((name) => {
    const [, day, list] = listPattern.exec(name) ?? [];
    if (list === undefined) throw new InvalidArchive('contains a file with an unexpected name');
    days.add(day);
    return { name, list };
  });
  if (new Set(lists.map(({ list }) => list)).size < lists.length) throw new InvalidArchive('contains a list twice');
  if (days.size !== 1) throw new InvalidArchive('contains no list, or lists of several days');
  return lists;
}

export function contentOfList(list: string): ListContent {
  if (list === withdrawnList) return { kind: 'withdrawn', header: 'ID,Hash,ListType' };
  return { kind: list === deviceList ? 'devices' : 'other', header: 'ID,Hash' };
}

/** The archive cannot be read. */
export class InvalidArchive extends Failure {
  constructor(reason: string) {
    super('invalid_request', `The archive ${reason}.`);
  }
}

type AnswerFile = { readonly part: number; readonly parts: number; /** Starts at 1. */ readonly attempt: number };

/** The name of one of the files that answer a list. DROP accepts each name once. */
export function answerName(listName: string, { part, parts, attempt }: AnswerFile): string {
  const ofPart = parts === 1 ? '' : `part${String(part).padStart(2, '0')}`;
  const ofAttempt = attempt === 1 ? '' : `r${attempt}`;
  return ofPart + ofAttempt === '' ? listName : withSuffix(listName, ofPart + ofAttempt);
}

export function amendmentName(listName: string, number: number): string {
  return withSuffix(listName, `amend${number}`);
}

/** A suffix has up to 10 letters and digits. */
function withSuffix(listName: string, suffix: string): string {
  if (!/^[A-Za-z0-9]{1,10}$/.test(suffix)) throw new Error(`"${suffix}" is not a suffix`);
  return listName.replace(/\.csv$/, `_${suffix}.csv`);
}

const pacificHour = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/Los_Angeles',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

const opensAtHour = 3;
const closesAtHour = 1;

/** The number of seconds until DROP opens. 0 if it is open. It is closed from 1:00 to 3:00 in California. */
export function secondsUntilOpen(now: Date): number {
  if (!isClosed(now)) return 0;
  // Clocks in California change within these hours, so the time is found by trying.
  const minute = 60_000;
  let time = Math.floor(now.getTime() / minute) * minute;
  while (isClosed(new Date(time))) time += minute;
  return Math.ceil((time - now.getTime()) / 1000);
}

function isClosed(time: Date): boolean {
  const hour = Number(pacificHour.formatToParts(time).find(({ type }) => type === 'hour')?.value);
  return hour >= closesAtHour && hour < opensAtHour;
}

/** The deadline for fetching the next list or for deleting the devices in an open cycle. */
export function deadlineOf(since: Date): Date {
  return new Date(since.getTime() + dropDutyDays * 86_400_000);
}

/** Returns the lines of an amendment, which has the same form as the files that answer a list. */
export function readAmendment(text: string): ReadonlyMap<string, DropStatus> {
  const [header, ...lines] = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  if (header !== 'Id,Status') throw new Failure('invalid_request', 'The first line must be "Id,Status".');
  const amended = new Map<string, DropStatus>();
  for (const [index, line] of lines.entries()) {
    if (line === '') continue;
    const [id = '', given = ''] = line.split(',');
    const status = Object.values(dropStatus).find((one) => String(one) === given);
    if (status === undefined || line !== `${id},${given}` || !itemPattern.test(id))
      throw new Failure('invalid_request', `Line ${index + 2} is not an ID of 12 characters and a status from 2 to 5.`);
    if (amended.has(id)) throw new Failure('invalid_request', `Line ${index + 2} repeats an ID.`);
    amended.set(id, status);
  }
  if (amended.size === 0) throw new Failure('invalid_request', 'The file contains no item.');
  if (amended.size > maxAmendedItems)
    throw new Failure('invalid_request', `The file contains more than ${maxAmendedItems} items. Split it.`);
  return amended;
}

/** The file that is uploaded for an amendment, sorted by ID. */
export function textOfAmendment(amended: ReadonlyMap<string, DropStatus>): string {
  const lines = [...amended].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([id, status]) => `${id},${status}\n`);
  return `Id,Status\n${lines.join('')}`;
}

/** How DROP rejects a name that was uploaded before. */
export function isAcceptedEarlier(message: string): boolean {
  return /already (been )?(uploaded|accepted|submitted|received)/i.test(message);
}
