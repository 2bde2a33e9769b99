import type { Deletion } from '@inlet/sdk';
import { type Command, Option } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { countOf, statusPaint, statusWord, timeOf } from '../terminal/format.ts';
import { outputFor } from '../terminal/output.ts';
import { type Column, table } from '../terminal/table.ts';
import { toId, wholeNumber } from './arguments.ts';

const columns: readonly Column<Deletion>[] = [
  { title: 'ID', align: 'right', of: ({ deletion_id }) => deletion_id },
  { title: 'STATUS', of: statusWord, paint: statusPaint },
  { title: 'REQUESTED', of: ({ requested_at }) => timeOf(requested_at) },
  { title: 'SOURCE', of: ({ source }) => source },
  { title: 'IDS', align: 'right', of: ({ ids }) => countOf(ids) },
  { title: 'INVALID LINES', align: 'right', of: ({ invalid_lines: lines }) => countOf(lines) },
  { title: 'WAITING FOR', of: ({ waiting_for: reason }) => reason ?? '-' },
  { title: 'PROOF', of: ({ has_proof: hasProof }) => (hasProof ? 'yes' : 'no') },
  { title: 'ERROR', of: ({ error }) => error?.message ?? '-', canShrink: true },
];

/** The API codes for the statuses. */
const statusCodes = { pending: '0', running: '1', done: '2', failed: '3' } as const;

type RequestOptions = CommonOptions & { readonly file?: string; readonly idempotencyKey?: string };
type ListOptions = CommonOptions & { readonly status?: keyof typeof statusCodes; readonly limit: number };

export function addDeletionsCommand(program: Command): void {
  const deletions = program
    .command('deletions')
    .description('permanently delete devices from your data, and get proofs of deletion');

  partnerCommand(deletions, 'request', {
    description: 'delete devices from your attributes, audiences, and rejected rows',
    examples: [
      ['inlet deletions request a3f1c2d4-5678-90ab-cdef-1234567890ab', 'Delete a device.'],
      ['inlet deletions request --file deletions/monday.csv', 'Delete the devices of an uploaded file.'],
    ],
  })
    .argument('[ids...]', 'device IDs, up to 1,000')
    .option('--file <path>', 'path of a file with one device ID per line, relative to your prefix')
    .option('--idempotency-key <key>', 'make the request safe to repeat for a day')
    .action(async (ids: string[], options: RequestOptions) => {
      const output = outputFor(options);
      const { file: file_path, idempotencyKey } = options;
      if (ids.length === 0 && file_path === undefined)
        throw wrongUse('No device IDs are specified.', 'Pass IDs or --file.');
      if (ids.length > 0 && file_path !== undefined)
        throw wrongUse('IDs and --file cannot be combined.', 'Pass one of them.');
      const inlet = await connect(options);
      const body = file_path === undefined ? { ids } : { file_path };
      const requested = valueOf(await inlet.requestDeletion(body, { idempotencyKey }));
      const { deletion_id: id } = requested;
      output.result(requested, () => `deletion ${id} is queued`);
      output.note(`It takes about ten minutes. Follow it with: inlet deletions show ${id}`);
    });

  partnerCommand(deletions, 'list', {
    description: 'list your deletions, newest first',
    examples: [['inlet deletions list --status running', 'List the deletions that are running.']],
  })
    .addOption(
      new Option('--status <status>', 'list only deletions with this status').choices(Object.keys(statusCodes)),
    )
    .option('--limit <number>', 'maximum number of deletions, up to 100', wholeNumber(1, 100), 20)
    .action(async ({ status, limit, ...options }: ListOptions) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const query = { limit, status: status && statusCodes[status] };
      const found = valueOf(await inlet.listDeletions({ query }));
      output.result(found, () =>
        found.length === 0 ? 'There are no deletions.' : table(columns, found, output.stdout),
      );
    });

  partnerCommand(deletions, 'show', {
    description: 'show a deletion and what it is waiting for',
    examples: [['inlet deletions show 5', 'Show whether deletion 5 is done.']],
  })
    .argument('<id>', 'deletion ID')
    .action(async (text: string, options: CommonOptions) => {
      const output = outputFor(options);
      const id = toId('deletion', text);
      const inlet = await connect(options);
      const found = valueOf(await inlet.getDeletion(id));
      output.result(found, () => table(columns, [found], output.stdout));
      if (found.has_proof) output.note(`Get the proof: inlet deletions proof ${id}`);
    });

  partnerCommand(deletions, 'proof', {
    description: 'print the signed proof of a deletion as JSON',
    examples: [['inlet deletions proof 5 > proof.json', 'Save the proof of deletion 5.']],
  })
    .argument('<id>', 'deletion ID')
    .action(async (text: string, options: CommonOptions) => {
      const output = outputFor({ ...options, json: true });
      const id = toId('deletion', text);
      const inlet = await connect(options);
      output.result(valueOf(await inlet.getDeletionProof(id)), () => '');
    });
}
