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
    description: 'list the logins on this machine (keys are not shown)',
    examples: [['inlet profiles', 'List all logins and the current one.']],
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
        ? 'You are not logged in. Run: inlet login'
        : table(
            [
              { title: 'PROFILE', of: ({ profile }) => profile },
              { title: 'CURRENT', of: ({ used: isUsed }) => (isUsed ? 'yes' : 'no') },
              { title: 'URL', of: ({ url }) => url, canShrink: true },
              { title: 'UPLOADS TO', of: ({ uploads }) => uploads, canShrink: true },
              { title: 'USER TOKEN', of: ({ user_token: hasToken }) => (hasToken ? 'yes' : 'no') },
            ],
            listed,
            output.stdout,
          ),
    );
    const over = ['INLET_URL', 'INLET_API_KEY'].filter((name) => environment[name] !== undefined);
    if (over.length > 0)
      output.note(`${over.join(' and ')} in the environment override these logins unless you pass --profile.`);
  });
}

export function addLogoutCommand(program: Command): void {
  localCommand(program, 'logout', {
    description: 'remove a login from this machine (its keys stay valid until the operator revokes them)',
    examples: [['inlet logout --profile staging', 'Remove one of several logins.']],
  })
    .option('--profile <name>', 'login to remove (default: the current one)')
    .action(async (options: OutputOptions & { readonly profile?: string }) => {
      const output = outputFor(options);
      const environment = readEnvironment();
      const path = settingsPath(environment);
      const { current, profiles } = await readProfiles(path);
      const name = options.profile ?? environment['INLET_PROFILE'] ?? current;
      if (!Object.hasOwn(profiles, name)) {
        const names = Object.keys(profiles);
        throw wrongUse(`Profile "${name}" does not exist.${didYouMean(name, names)}`, 'List them with: inlet profiles');
      }
      const { [name]: _removed, ...others } = profiles;
      const next = name === current ? (Object.keys(others)[0] ?? 'default') : current;
      await writeProfiles(path, { current: next, profiles: others });
      output.result({ profile: name }, () => escapeTerminal(`Removed profile "${name}".`));
      if (Object.hasOwn(others, next)) output.note(`Profile "${next}" is now current.`);
    });
}
