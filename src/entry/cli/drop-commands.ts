import { fieldList, outputFor, table, wholeNumber } from '@inlet/cli';
import type { Command } from 'commander';
import { type DropWait, deadlineOf } from '../../domain/drop.ts';
import { Failure } from '../../domain/failure.ts';
import type { DropCycle, DropUpload } from '../../ports/drop.ts';
import type { DropOutcome } from '../../usecases/privacy/run-drop-cycle.ts';
import type { CycleReport, DropStatusReport } from '../drop.ts';
import { type OutputOptions, operatorCommand, parseId, printJson } from './output.ts';

const listed = 20;

export function addDropCommands(program: Command): void {
  const privacy = program.commands.find((command) => command.name() === 'privacy');
  const drop = (privacy ?? program)
    .command('drop')
    .description("process the deletion lists from California's DROP: erase, suppress, and answer every item");
  operatorCommand(
    drop,
    'sync',
    'download the next list or continue the open cycle; stop when the cycle has ended or has to wait',
  )
    .option('--wait', 'keep waiting until the cycle has ended')
    .option('--archive <file>', 'use this ZIP file, which DROP support has sent again')
    .action(async ({ wait, archive, ...options }: OutputOptions & { wait?: true; archive?: string }) => {
      const { syncDrop } = await import('../drop.ts');
      const { signal } = stopOnInterrupt();
      const output = outputFor(options);
      let outcome = await syncDrop({ archive, signal });
      while (outcome.is === 'waiting' || outcome.is === 'held') {
        if (!wait) break;
        output.note(describeOutcome(outcome));
        await pauseFor(outcome.is === 'waiting' ? outcome.seconds : heldSeconds, signal);
        outcome = await syncDrop({ signal });
      }
      output.result(recordOfOutcome(outcome), () => describeOutcome(outcome));
    });
  operatorCommand(
    drop,
    'status',
    'show when the next list is due, and list the newest cycles; with an ID, show one cycle and its files',
  )
    .argument('[id]', 'cycle ID')
    .option('--limit <number>', 'maximum number of cycles', wholeNumber(1, 1_000), listed)
    .action(async (id: string | undefined, { limit, ...options }: OutputOptions & { limit: number }) => {
      const { readCycle, readDropStatus } = await import('../drop.ts');
      const output = outputFor(options);
      if (id === undefined) {
        const status = await readDropStatus(limit);
        output.result(status, () => describeStatus(status));
        return;
      }
      const found = await readCycle(parseId('cycle', id));
      if (!found) throw noSuchCycle(id);
      output.result(found, () => describeCycle(found));
    });
  drop
    .command('report')
    .description('print the signed proof of a cycle that has ended')
    .argument('<id>', 'cycle ID')
    .action(async (text: string) => {
      const { findDropProof } = await import('../drop.ts');
      const proof = await findDropProof(parseId('cycle', text));
      if (!proof) throw new Failure('not_found', `Cycle ${text} does not exist or has not ended.`);
      printJson(proof);
    });
  operatorCommand(drop, 'amend', 'correct answers of a cycle that has ended')
    .argument('<id>', 'cycle ID')
    .requiredOption('--file <path>', 'CSV file with the header Id,Status and one line per corrected item')
    .action(async (text: string, { file, ...options }: OutputOptions & { file: string }) => {
      const { amendDrop } = await import('../drop.ts');
      const { signal } = stopOnInterrupt();
      const name = await amendDrop({ cycleId: parseId('cycle', text), file, signal });
      outputFor(options).result({ accepted: name }, () => `DROP accepted ${name}.`);
    });
  operatorCommand(
    drop,
    'close',
    'end a cycle although DROP does not expect its remaining answers, for example because you sent them yourself',
  )
    .argument('<id>', 'cycle ID')
    .action(async (text: string, options: OutputOptions) => {
      const { closeDrop } = await import('../drop.ts');
      const cycleId = parseId('cycle', text);
      await closeDrop(cycleId);
      outputFor(options).result({ closed: cycleId }, () => `Cycle ${cycleId} has ended.`);
    });
}

/** Another command holds the cycle. */
const heldSeconds = 10;

function stopOnInterrupt(): AbortController {
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
  return stop;
}

function pauseFor(seconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, seconds * 1000);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    reject(new Failure('unavailable', 'Interrupted. Run the command again to continue.'));
  });
  return promise;
}

function noSuchCycle(id: string): Failure {
  return new Failure('not_found', `Cycle ${id} does not exist.`);
}

const waits: Readonly<Record<DropWait, string>> = {
  opening: 'DROP to open (closed from 1:00 to 3:00 in California)',
  archive: 'DROP to prepare the list',
  previous_batch: 'DROP to process the answers to its last list',
  jobs: 'jobs that started before the suppression list was changed',
  erasure: 'workers to erase the devices (inlet privacy list)',
  drop: 'DROP, which is not available',
};

function describeOutcome(outcome: DropOutcome): string {
  if (outcome.is === 'nothing_new') return 'There is no new list.';
  if (outcome.is === 'held') return 'Another command is processing the open cycle.';
  if (outcome.is === 'done') return `Cycle ${outcome.cycleId} has ended. Every item is answered.`;
  const { cycleId, seconds, detail } = outcome;
  const message = detail === null ? '' : ` DROP says: ${detail}`;
  return `Cycle ${cycleId} waits for ${waits[outcome.for]}, at least ${seconds} s.${message}`;
}

function recordOfOutcome(outcome: DropOutcome) {
  const cycleId = 'cycleId' in outcome ? outcome.cycleId : null;
  const waitsFor = outcome.is === 'waiting' ? outcome.for : null;
  return { outcome: outcome.is, cycle_id: cycleId, waits_for: waitsFor };
}

function dayOf(date: Date | null): string {
  return date?.toISOString().slice(0, 16).replace('T', ' ') ?? '-';
}

function sinceText(date: Date): string {
  const days = Math.floor((Date.now() - date.getTime()) / 86_400_000);
  if (days === 0) return 'today';
  return days === 1 ? '1 day ago' : `${days} days ago`;
}

function dueText(date: Date): string {
  const days = Math.floor((date.getTime() - Date.now()) / 86_400_000);
  if (days < 0) return `${dayOf(date)} UTC, overdue since ${-days} days`;
  return `${dayOf(date)} UTC, in ${days} days`;
}

function describeStatus({ fetch, cycles }: DropStatusReport): string {
  if (!fetch) return 'DROP is not in use. Run `inlet privacy drop sync` to download the first list.';
  const open = cycles.find(({ finishedAt }) => finishedAt === null);
  const last = fetch.fetchedAt ?? fetch.firstTriedAt;
  const fields: [string, string][] = [
    ['last fetch', fetch.fetchedAt ? `${dayOf(last)} UTC, ${sinceText(last)}` : 'never'],
    ['next fetch due', dueText(deadlineOf(last))],
  ];
  if (open?.downloadedAt) fields.push([`cycle ${open.id} due`, dueText(deadlineOf(open.downloadedAt))]);
  if (cycles.length === 0) return `${fieldList(fields, process.stdout)}\n\nThere are no cycles.`;
  const list = table<DropCycle>(
    [
      { title: 'ID', of: ({ id }) => id, align: 'right' },
      { title: 'ARCHIVE', of: ({ archive }) => archive?.name ?? null },
      { title: 'STEP', of: ({ step }) => step },
      { title: 'ITEMS', of: itemsOf, align: 'right' },
      { title: 'DEVICES', of: ({ devicesFound }) => devicesFound, align: 'right' },
      { title: 'DOWNLOADED', of: ({ downloadedAt }) => dayOf(downloadedAt) },
      { title: 'FINISHED', of: ({ finishedAt }) => dayOf(finishedAt) },
      { title: 'WAITS FOR', of: waitOf, canShrink: true },
    ],
    cycles,
    process.stdout,
  );
  return `${fieldList(fields, process.stdout)}\n\n${list}`;
}

function itemsOf({ lists }: DropCycle): number {
  return lists.filter(({ list }) => list !== 'Removed').reduce((sum, { items }) => sum + items, 0);
}

function waitOf({ waitingFor, failure }: DropCycle): string | null {
  return waitingFor === null ? failure : waits[waitingFor];
}

const statusNames: Readonly<Record<string, string>> = {
  2: 'exempt',
  3: 'deleted',
  4: 'opted out',
  5: 'not found',
};

function describeCycle({ cycle, uploads }: CycleReport): string {
  const { archive, lists, statuses } = cycle;
  const fields: [string, string][] = [
    ['cycle', String(cycle.id)],
    ['step', cycle.step],
    ['waits for', waitOf(cycle) ?? '-'],
    ['archive', archive ? `${archive.name}, ${archive.bytes} bytes` : '-'],
    ['sha256', archive?.sha256 ?? '-'],
    ['downloaded', dayOf(cycle.downloadedAt)],
    ['erased and verified', dayOf(cycle.verifiedAt)],
    ['finished', dayOf(cycle.finishedAt)],
    ['devices erased', String(cycle.devicesFound)],
    ...Object.entries(statuses).map(([status, items]): [string, string] => [
      `answered ${status}`,
      `${items} items (${statusNames[status] ?? 'unknown'})`,
    ]),
  ];
  const ofLists = table(
    [
      { title: 'LIST', of: ({ name }) => name },
      { title: 'ITEMS', of: ({ items }) => items, align: 'right' },
      { title: 'INVALID LINES', of: ({ invalidLines }) => invalidLines, align: 'right' },
    ],
    lists,
    process.stdout,
  );
  const ofUploads = table<DropUpload>(
    [
      { title: 'FILE', of: ({ name }) => name },
      { title: 'ITEMS', of: ({ items }) => items, align: 'right' },
      { title: 'SENT', of: ({ sentAt }) => dayOf(sentAt) },
      { title: 'ACCEPTED', of: ({ acceptedAt }) => dayOf(acceptedAt) },
      { title: 'RECEIPT', of: ({ message }) => message, canShrink: true },
    ],
    uploads,
    process.stdout,
  );
  return [fieldList(fields, process.stdout), ofLists, ofUploads].join('\n\n');
}
