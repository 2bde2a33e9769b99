import { type Column, countOf, outputFor, several, table, wrongUse } from '@inlet/cli';
import type { Command } from 'commander';
import { writeFile } from 'node:fs/promises';
import { type PlaceCount, partnerIdPattern } from '../../domain/partner-removal.ts';
import { type OutputOptions, operatorCommand } from './output.ts';

type Options = OutputOptions & {
  readonly confirm?: string;
  readonly proof?: string;
  readonly withoutStorage?: true;
};

const storeNames = { postgresql: 'PostgreSQL', clickhouse: 'ClickHouse', storage: 'object storage' } as const;

const columns: readonly Column<PlaceCount>[] = [
  { title: 'STORE', of: ({ store }) => storeNames[store] },
  { title: 'PLACE', of: ({ place }) => place },
  { title: 'SHARD', align: 'right', of: ({ shard }) => shard },
  { title: 'REPLICA', align: 'right', of: ({ replica }) => replica },
  { title: 'COUNT', align: 'right', of: ({ count }) => countOf(count) },
];

export function addRemovePartnerCommand(partner: Command): void {
  operatorCommand(
    partner,
    'remove',
    'remove a partner with all of its data, keys, and objects, and prove it; without --confirm, only show what would be removed',
  )
    .argument('<name>')
    .option(
      '--confirm <name-or-id>',
      'the name of the partner again, or its ID if a removed partner had the same name; the removal cannot be undone',
    )
    .option('--proof <path>', 'file for the proof (default: <name>-removal-proof.json)')
    .option('--without-storage', 'do not remove the storage user; required with storage other than Ceph')
    .action(async (name: string, { confirm, proof = `${name}-removal-proof.json`, ...options }: Options) => {
      if (confirm !== undefined && confirm !== name && !partnerIdPattern.test(confirm))
        throw wrongUse(`"${confirm}" is not the name of the partner.`, `Pass --confirm ${name} to remove it.`);
      const { previewPartnerRemoval, removePartnerNamed } = await import('../remove-partner.ts');
      const output = outputFor(options);
      const how = { withoutStorage: options.withoutStorage === true, report: (text: string) => output.note(text) };
      if (confirm === undefined) {
        const { places, isBegun, confirm: required } = await previewPartnerRemoval(name, how);
        output.result({ partner: name, removed: false, would_remove: places, confirm: required }, () =>
          table(columns, places, output.stdout),
        );
        const state = isBegun
          ? `The removal of the partner "${name}" is not finished. This would remove`
          : `Nothing was removed. This would remove the partner "${name}", its storage user, and`;
        output.note(
          `${state} everything listed here. It cannot be undone. Run: inlet partner remove ${name} --confirm ${required}`,
        );
        return;
      }
      const removal = await removePartnerNamed(name, confirm, how);
      await writeFile(proof, `${JSON.stringify(removal.proof, null, 2)}\n`);
      output.result(removal.proof, () =>
        [
          `partner ${confirm === name ? name : `${name} with the ID ${confirm}`} is removed; nothing remains in ${several(removal.remaining.length, 'place')}`,
          `The proof is in ${proof}.`,
        ].join('\n'),
      );
      if (removal.proof?.signature === null)
        output.note('The proof is not signed, because INLET_PROOF_KEY is not set.');
      if (!removal.hasStorageUser) output.note("Remove the partner's storage credentials yourself.");
    });
}
