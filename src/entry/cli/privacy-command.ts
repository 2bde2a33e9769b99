import { type Column, outputFor } from '@inlet/cli';
import type { Command } from 'commander';
import { Failure } from '../../domain/failure.ts';
import type { ListedByOperator } from '../../ports/erasure.ts';
import { type OutputOptions, operatorCommand, parseId, printJson, printList, when } from './output.ts';

type EraseOptions = OutputOptions & { readonly file?: string; readonly id?: string[] };

const listed = 50;

const columns: readonly Column<ListedByOperator>[] = [
  { title: 'ID', align: 'right', of: ({ id }) => id },
  { title: 'REQUESTED', of: ({ requestedAt }) => when(requestedAt) },
  { title: 'PARTNER', of: ({ partner }) => partner ?? 'all', canShrink: true },
  { title: 'IDS', align: 'right', of: ({ ids }) => ids },
  { title: 'STATE', of: stateOf, canShrink: true },
  { title: 'WAITS FOR', of: ({ waitingFor }) => waitingFor ?? '-', canShrink: true },
];

export function addPrivacyCommands(program: Command): void {
  const privacy = program.command('privacy').description('erase devices from all data, and prove it');
  operatorCommand(privacy, 'erase', "erase devices from every partner's data; workers erase them in the background")
    .option('--file <path>', 'file with one device ID per line, optionally gzipped')
    .option('--id <ids...>', 'device IDs')
    .action(async ({ file, id, ...options }: EraseOptions) => {
      if ((file === undefined) === (id === undefined))
        throw new Failure('invalid_request', 'Use either --file or --id.');
      const [{ requestErasure }, { operatorName }] = await Promise.all([
        import('../erasure.ts'),
        import('../operator-name.ts'),
      ]);
      const given = file === undefined ? { ids: id ?? [] } : { file };
      const { id: erasureId, ids, invalidLines } = await requestErasure(given, operatorName());
      outputFor(options).result(
        { erasure_id: erasureId, ids, invalid_lines: invalidLines },
        () => `Erasure ${erasureId} of ${ids} device IDs is waiting. ${invalidLines} lines are not device IDs.`,
      );
    });
  operatorCommand(privacy, 'list', `list the newest ${listed} erasures that operators and partners requested`).action(
    async (options: OutputOptions) => {
      const { listErasures } = await import('../erasure.ts');
      const found = await listErasures(listed);
      const output = outputFor(options);
      if (output.isJson) output.result(found.map(recordOf), () => '');
      else printList(output, columns, found, 'There are no erasures.');
    },
  );
  privacy
    .command('proof')
    .description('print the proof of an erasure')
    .argument('<id>', 'erasure ID')
    .option('--csv', 'print the counts as CSV')
    .action(async (text: string, { csv }: { readonly csv?: true }) => {
      const { findProof } = await import('../erasure.ts');
      const id = parseId('erasure', text);
      const found = await findProof(id);
      if (!found) throw new Failure('not_found', `Erasure ${id} has no proof.`);
      if (csv) process.stdout.write(found.csv);
      else printJson(found.proof);
    });
  operatorCommand(privacy, 'public-key', 'print the public key with which proofs are verified').action(
    async (options: OutputOptions) => {
      const { publicKeyOfProofs } = await import('../erasure.ts');
      const key = publicKeyOfProofs();
      if (key === null) throw new Failure('not_found', 'INLET_PROOF_KEY is not set, so proofs are not signed.');
      outputFor(options).result({ public_key: key }, () => key);
    },
  );
}

function stateOf({ status, step, failure }: ListedByOperator): string {
  if (failure) return `failed (${failure.detail})`;
  return status === 0 ? 'waiting' : (step ?? '-');
}

function recordOf(erasure: ListedByOperator) {
  const { id, partner, ids, waitingFor, failure, requestedAt } = erasure;
  return {
    erasure_id: id,
    partner,
    ids,
    state: failure ? 'failed' : stateOf(erasure),
    waiting_for: waitingFor,
    error: failure,
    requested_at: requestedAt,
  };
}
