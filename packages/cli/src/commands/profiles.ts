import type { Command } from 'commander';
import { localCommand } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { readProfiles, settingsPath, writeProfiles } from '../profile/profiles-file.ts';
import { type OutputOptions, outputFor } from '../terminal/output.ts';
import { table } from '../terminal/table.ts';
import { didYouMean, escapeTerminal } from '../terminal/text.ts';

export function addProfilesCommand(program: Command): void {
  localCommand(program, 'profiles', {
    description: 'the logins of this machine, without their keys',
    examples: [['inlet profiles', 'Which there are, and which is used.']],
  }).action(async (options: OutputOptions) => {
    const output = outputFor(options);
    const environment = readEnvironment();
    const { current, profiles } = await readProfiles(settingsPath(environment));
    const used = environment['INLET_PROFILE'] ?? current;
    const listed = Object.entries(profiles).map(([name, { url, storage, userToken }]) => ({
      profile: name,
      url,
      uploads: storage === undefined ? null : `${storage.bucket}/${storage.prefix}`,
      user_token: userToken !== undefined,
      used: name === used,
    }));
    output.result(listed, () =>
      listed.length === 0
        ? 'There is no login yet: inlet login'
        : table(
            [
              { title: 'PROFILE', of: ({ profile }) => profile },
              { title: 'USED', of: ({ used: isUsed }) => (isUsed ? 'yes' : 'no') },
              { title: 'ADDRESS', of: ({ url }) => url, canShrink: true },
              { title: 'UPLOADS TO', of: ({ uploads }) => uploads, canShrink: true },
              { title: 'USER TOKEN', of: ({ user_token: hasToken }) => (hasToken ? 'yes' : 'no') },
            ],
            listed,
            output.stdout,
          ),
    );
    const over = ['INLET_URL', 'INLET_API_KEY'].filter((name) => environment[name] !== undefined);
    if (over.length > 0)
      output.note(`The environment goes before them, unless --profile names one: ${over.join(' and ')}`);
  });
}

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
      output.result({ profile: name }, () => escapeTerminal(`Profile "${name}" is forgotten.`));
      if (Object.hasOwn(others, next)) output.note(`Profile "${next}" is used now.`);
    });
}
