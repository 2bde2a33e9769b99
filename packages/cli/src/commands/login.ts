import type { Command } from 'commander';
import { localCommand } from '../command.ts';
import { clientOf } from '../connect.ts';
import { type Environment, readEnvironment } from '../environment.ts';
import { valueOf } from '../failures/api-errors.ts';
import { wrongUse } from '../failures/cli-failure.ts';
import { type Issued, askForStorage, readIssued } from '../profile/issued-credentials.ts';
import {
  type Profile,
  isProfileName,
  keepProfile,
  noProfiles,
  readProfiles,
  settingsPath,
} from '../profile/profiles-file.ts';
import { type OutputOptions, outputFor } from '../terminal/output.ts';
import { ask } from '../terminal/prompt.ts';
import { escapeTerminal } from '../terminal/text.ts';

type Options = OutputOptions & {
  readonly profile?: string;
  readonly url?: string;
  readonly from?: string;
  readonly allowHttp?: true;
  readonly storageEndpoint?: string;
  readonly storageRegion?: string;
  readonly storageBucket?: string;
  readonly storagePrefix?: string;
  readonly storageAccessKeyId?: string;
};

export function addLoginCommand(program: Command): void {
  localCommand(program, 'login', {
    description: 'save your credentials on this machine',
    examples: [
      ['inlet login', 'Prompt for all values. Keys are not echoed.'],
      ['inlet login --url https://inlet.example --from issued.json', 'Use the file that the operator sent.'],
      [
        'inlet login --profile staging --url https://staging.example --from - < staging.json',
        'Add a second login in a script.',
      ],
    ],
  })
    .option(
      '--profile <name>',
      'name of the login, which becomes the current one (default: INLET_PROFILE, else "default")',
    )
    .option('--url <address>', 'service URL (default: INLET_URL)')
    .option(
      '--from <file>',
      'JSON file that the operator sent (output of `inlet partner create --json`); - for standard input',
    )
    .option('--allow-http', 'allow unencrypted http URLs; keys and files can be intercepted')
    .option('--storage-endpoint <address>', 'storage endpoint, if not AWS')
    .option('--storage-region <region>', 'storage region')
    .option('--storage-bucket <bucket>', 'shared bucket, for `inlet upload`')
    .option('--storage-prefix <prefix>', 'your prefix in the shared bucket')
    .option('--storage-access-key-id <id>', 'your storage access key ID')
    .action(async (options: Options) => {
      const output = outputFor(options);
      const environment = readEnvironment();
      const name = options.profile ?? environment['INLET_PROFILE'] ?? noProfiles.current;
      if (!isProfileName(name)) {
        throw wrongUse(
          `"${name}" is not a valid profile name.`,
          'Use letters, digits, dots, hyphens, and underscores.',
        );
      }
      const path = settingsPath(environment);
      // Check the file before any prompt, so that the user's input is not lost if the file is unusable.
      await readProfiles(path);
      const issued: Issued = options.from === undefined ? { storage: {} } : await readIssued(options.from);
      const access = await readAccess(options, issued, environment);
      // Call the API before the storage prompts, so that the command fails early if the key is invalid. Every key can
      // read its limits.
      const inlet = await clientOf(access);
      valueOf(await inlet.getLimits());
      const storage = await askForStorage(knownStorage(options, issued, environment));
      const profile: Profile = { ...access, ...(storage === undefined ? {} : { storage }) };
      await clientOf(profile);
      await keepProfile(path, name, profile);
      const [hasStorage, hasToken] = [profile.storage !== undefined, profile.userToken !== undefined];
      const result = { profile: name, url: profile.url, uploads: hasStorage, user_token: hasToken, file: path };
      output.result(result, () =>
        [
          `Logged in to ${escapeTerminal(profile.url)} as profile "${name}".`,
          `Uploads: ${hasStorage ? 'enabled' : 'not configured'}.`,
          ...(hasToken ? ['Audiences: the audiences of the customer with the saved user token.'] : []),
        ].join('\n'),
      );
      if (!hasToken && environment['INLET_USER_TOKEN'] !== undefined) {
        output.note('INLET_USER_TOKEN is not saved. It applies only while it is set.');
      }
      output.note(`Saved to ${path} (readable only by you). Next: inlet attributes`);
    });
}

/**
 * Options take precedence over the operator's file, which takes precedence over the environment. Prompts for missing
 * values.
 */
async function readAccess(options: Options, issued: Issued, environment: Environment): Promise<Profile> {
  const url =
    options.url ?? issued.url ?? environment['INLET_URL'] ?? (await ask({ what: 'Inlet URL', flag: '--url' }));
  const apiKey =
    issued.apiKey ??
    environment['INLET_API_KEY'] ??
    (await ask({ what: 'API key', flag: 'INLET_API_KEY or --from', isSecret: true }));
  // Do not read the token from the environment, because a token that is set for one command must not apply to all later
  // commands.
  const { userToken } = issued;
  return {
    url,
    apiKey,
    ...(userToken === undefined ? {} : { userToken }),
    ...(options.allowHttp ? { allowHttp: true } : {}),
  };
}

/** Uses the settings in the operator's file or those in the environment, but never a mixture of both. */
function knownStorage(options: Options, { storage: sent }: Issued, environment: Environment): Issued['storage'] {
  const isSent = Object.values(sent).some((value) => value !== undefined);
  const storage = isSent ? sent : storageIn(environment);
  return {
    endpoint: options.storageEndpoint ?? storage.endpoint,
    region: options.storageRegion ?? storage.region,
    bucket: options.storageBucket ?? storage.bucket,
    prefix: options.storagePrefix ?? storage.prefix,
    accessKeyId: options.storageAccessKeyId ?? storage.accessKeyId,
    secretAccessKey: storage.secretAccessKey,
  };
}

function storageIn(environment: Environment): Issued['storage'] {
  return {
    endpoint: environment['INLET_STORAGE_ENDPOINT'],
    region: environment['INLET_STORAGE_REGION'],
    bucket: environment['INLET_STORAGE_BUCKET'],
    prefix: environment['INLET_STORAGE_PREFIX'],
    accessKeyId: environment['INLET_STORAGE_ACCESS_KEY_ID'],
    secretAccessKey: environment['INLET_STORAGE_SECRET_ACCESS_KEY'],
  };
}
