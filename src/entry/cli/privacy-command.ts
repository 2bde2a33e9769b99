import type { Command } from 'commander';
import { Failure } from '../../domain/failure.ts';
import { parseId, print, printJson } from './output.ts';

type EraseOptions = { readonly file?: string; readonly id?: string[] };

const listed = 50;

export function addPrivacyCommands(program: Command): void {
  const privacy = program.command('privacy').description('erase devices from all data, and prove it');
  privacy
    .command('erase')
    .description("erase devices from every partner's data; workers erase them in the background")
    .option('--file <path>', 'file with one device ID per line, optionally gzipped')
    .option('--id <ids...>', 'device IDs')
    .action(async ({ file, id }: EraseOptions) => {
      if ((file === undefined) === (id === undefined))
        throw new Failure('invalid_request', 'Use either --file or --id.');
      const [{ requestErasure }, { operatorName }] = await Promise.all([
        import('../erasure.ts'),
        import('../operator-name.ts'),
      ]);
      const given = file === undefined ? { ids: id ?? [] } : { file };
      const { id: erasureId, ids, invalidLines } = await requestErasure(given, operatorName());
      print(`erasure ${erasureId} of ${ids} device IDs is waiting; ${invalidLines} lines are not a device ID`);
    });
  privacy
    .command('list')
    .description(`list the newest ${listed} erasures of operators and partners`)
    .action(async () => {
      const { listErasures } = await import('../erasure.ts');
      const found = await listErasures(listed);
      if (found.length === 0) print('there are no erasures');
      for (const { id, partner, step, ids, status, waitingFor, failure, requestedAt } of found) {
        const state = failure ? `failed (${failure.detail})` : status === 0 ? 'waiting' : (step ?? '');
        const wait = waitingFor === null ? '' : `, waiting for ${waitingFor}`;
        print(`${id}  ${requestedAt.toISOString()}  ${partner ?? 'all partners'}  ${ids} IDs  ${state}${wait}`);
      }
    });
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
  privacy
    .command('public-key')
    .description('print the public key with which proofs are verified')
    .action(async () => {
      const { publicKeyOfProofs } = await import('../erasure.ts');
      const key = publicKeyOfProofs();
      if (key === null) throw new Failure('not_found', 'INLET_PROOF_KEY is not set, so proofs are not signed.');
      print(key);
    });
}
