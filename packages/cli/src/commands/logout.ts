import type { Command } from 'commander';
import { localCommand } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { readProfiles, settingsPath, writeProfiles } from '../profile/settings-file.ts';
import { didYouMean } from '../terminal/did-you-mean.ts';
import { harmless } from '../terminal/harmless.ts';
import { outputFor, type OutputOptions } from '../terminal/output.ts';

export function addLogoutCommand(program: Command): void {
  localCommand(program, 'logout', {
    description: 'forget a login; the keys stay valid until the operator revokes them',
    examples: [['inlet logout --profile staging', 'Forget one of several.']],
  })
    .option('--profile <name>', 'which; else the one that is used')
    .action(async (options: OutputOptions & { readonly profile?: string }) => {
      const output = outputFor(options);
      const environment = readEnvironment();
      const path = settingsPath(environment);
      const { current, profiles } = await readProfiles(path);
      const name = options.profile ?? environment['INLET_PROFILE'] ?? current;
      if (!Object.hasOwn(profiles, name)) {
        const names = Object.keys(profiles);
        throw wrongUse(`There is no profile "${name}".${didYouMean(name, names)}`, 'See them with: inlet profiles');
      }
      const { [name]: _forgotten, ...others } = profiles;
      const next = name === current ? (Object.keys(others)[0] ?? 'default') : current;
      await writeProfiles(path, { current: next, profiles: others });
      output.result({ profile: name }, () => harmless(`Profile "${name}" is forgotten.`));
      if (Object.hasOwn(others, next)) output.note(`Profile "${next}" is used now.`);
    });
}
