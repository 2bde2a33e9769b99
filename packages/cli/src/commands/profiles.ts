import type { Command } from 'commander';
import { localCommand } from '../command.ts';
import { readEnvironment } from '../environment.ts';
import { readProfiles, settingsPath } from '../profile/settings-file.ts';
import { outputFor, type OutputOptions } from '../terminal/output.ts';
import { table } from '../terminal/table.ts';

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
