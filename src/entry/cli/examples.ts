import type { Command } from 'commander';

/**
 * One example per operator command. A test parses each example as a shell would and checks that every command has one.
 */
const examples: Readonly<Record<string, string>> = {
  migrate: 'inlet migrate',
  'partner create': 'inlet partner create acme --json > acme.json',
  'partner show': 'inlet partner show acme',
  'partner list': 'inlet partner list',
  'partner suspend': 'inlet partner suspend acme',
  'partner resume': 'inlet partner resume acme',
  'partner remove': 'inlet partner remove acme --confirm acme --proof acme-removal.json',
  'partner set': 'inlet partner set acme --audience-bad-rows 0.01',
  'key create': 'inlet key create --partner acme --name nightly --scope marketplace:write --expires-in 90d',
  'key list': 'inlet key list --partner acme',
  'key rotate': 'inlet key rotate 7 --partner acme --overlap 48h',
  'key revoke': 'inlet key revoke 7 --partner acme',
  'key identify': 'inlet key identify < found.txt',
  'attribute create': 'inlet attribute create --partner acme --name Sports --foreign-key sports --foreign-key sport',
  'attribute list': 'inlet attribute list --partner acme',
  'attribute rename': 'inlet attribute rename 17 --partner acme --name "Team sports"',
  'attribute retire': 'inlet attribute retire 17 --partner acme',
  'attribute tie': 'inlet attribute tie 17 football handball --partner acme',
  'audience purges': 'inlet audience purges',
  'customer create': 'inlet customer create --partner acme --name "Blue Shoes"',
  'customer list': 'inlet customer list --partner acme',
  'user-token create': 'inlet user-token create --partner acme --customer "Blue Shoes"',
  'user-token list': 'inlet user-token list --partner acme',
  'user-token revoke': 'inlet user-token revoke 4 --partner acme',
  'jobs list': 'inlet jobs --partner acme --status failed --limit 10',
  'jobs show': 'inlet jobs show 812',
  'jobs cancel': 'inlet jobs cancel 812',
  'jobs retry': 'inlet jobs retry 812',
  lanes: 'inlet lanes --limit 20',
  backup: 'inlet backup /var/backups/inlet/2026-11-16',
  restore: 'inlet restore /var/backups/inlet/2026-11-16',
  audit: 'inlet audit --partner acme --since 24h',
  'audit-log': 'inlet audit-log --partner acme --limit 20',
  'repair rows': 'inlet repair --partner acme --since 24h --yes',
  'repair ids': 'inlet repair ids --yes',
  doctor: 'inlet doctor',
  'known-devices rebuild': 'inlet known-devices rebuild',
  'index status': 'inlet index status',
  'index verify': 'inlet index verify',
  'index rebuild': 'inlet index rebuild',
  'privacy erase': 'inlet privacy erase --file deletions.csv',
  'privacy list': 'inlet privacy list',
  'privacy proof': 'inlet privacy proof 12 > proof.json',
  'privacy public-key': 'inlet privacy public-key',
  'privacy suppress add': 'inlet privacy suppress add a3f1c2d4-5678-90ab-cdef-1234567890ab',
  'privacy suppress remove': 'inlet privacy suppress remove 250KY6lOgzYUB3EHrkbDCE2kMEZQE69SF38muhoDudI=',
  'privacy suppress import': 'inlet privacy suppress import 20261116_1234_DROP_MAID.csv',
  'privacy suppress status': 'inlet privacy suppress status',
  'privacy suppress sync': 'inlet privacy suppress sync',
  'privacy suppress match': 'inlet privacy suppress match',
  'privacy drop sync': 'inlet privacy drop sync --wait',
  'privacy drop status': 'inlet privacy drop status',
  'privacy drop report': 'inlet privacy drop report 3 > proof.json',
  'privacy drop amend': 'inlet privacy drop amend 3 --file corrected.csv',
  'privacy drop close': 'inlet privacy drop close 3',
  'topology show': 'inlet topology',
  'topology change': 'inlet topology change --confirm',
  'notification-url': 'inlet notification-url',
  version: 'inlet version',
};

/** Appends each example to the help of its command. */
export function addExamples(program: Command): void {
  for (const [words, example] of Object.entries(examples)) {
    const command = words
      .split(' ')
      .reduce<Command | undefined>((above, word) => above?.commands.find((one) => one.name() === word), program);
    if (!command) throw new Error(`The example "${words}" does not belong to a command.`);
    command.addHelpText('after', `\nExample:\n  $ ${example}`);
  }
}
