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
    description: 'keep the address, the API key and the storage keys that were issued to you',
    examples: [
      ['inlet login', 'Asks for all of it; keys are not shown.'],
      ['inlet login --url https://inlet.example --from issued.json', 'With what the operator sent.'],
      [
        'inlet login --profile staging --url https://staging.example --from - < staging.json',
        'A second one, in a script.',
      ],
    ],
  })
    .option('--profile <name>', 'under which name; else INLET_PROFILE, else default. It becomes the one that is used')
    .option('--url <address>', 'of the service; else INLET_URL')
    .option(
      '--from <file>',
      'the JSON that the operator sent (the output of `inlet partner create`); - is standard input',
    )
    .option('--allow-http', 'take addresses without encryption: the key and files can be read on the way')
    .option('--storage-endpoint <address>', 'of the storage, where it is not AWS')
    .option('--storage-region <region>', 'of the storage')
    .option('--storage-bucket <bucket>', 'that was issued to you, for `inlet upload`')
    .option('--storage-prefix <prefix>', 'that was issued to you')
    .option('--storage-access-key-id <id>', 'that was issued to you')
    .action(async (options: Options) => {
      const output = outputFor(options);
      const environment = readEnvironment();
      const name = options.profile ?? environment['INLET_PROFILE'] ?? noProfiles.current;
      if (!isProfileName(name)) {
        throw wrongUse(`"${name}" cannot be the name of a profile.`, 'Use letters, digits, dots, hyphens: --profile');
      }
      const path = settingsPath(environment);
      // Before anything is asked: a file that cannot be used would lose all answers.
      await readProfiles(path);
      const issued: Issued = options.from === undefined ? { storage: {} } : await readIssued(options.from);
      const access = await readAccess(options, issued, environment);
      // Before the storage is asked for: a wrong key is told at once. Any key may ask for its limits.
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
          `Uploads: ${hasStorage ? 'to the storage that was given' : 'no storage was given'}.`,
          ...(hasToken ? ['Audiences: those of the customer whose user token was given.'] : []),
        ].join('\n'),
      );
      if (!hasToken && environment['INLET_USER_TOKEN'] !== undefined) {
        output.note('INLET_USER_TOKEN is not kept: it counts as long as it is set.');
      }
      output.note(`Kept in ${path}, readable by you only. Next: inlet attributes`);
    });
}

/** A flag goes before the operator's file, that before the environment, and what is left is asked for. */
async function readAccess(options: Options, issued: Issued, environment: Environment): Promise<Profile> {
  const url =
    options.url ?? issued.url ?? environment['INLET_URL'] ?? (await ask({ what: 'Address of Inlet', flag: '--url' }));
  const apiKey =
    issued.apiKey ??
    environment['INLET_API_KEY'] ??
    (await ask({ what: 'API key', flag: 'INLET_API_KEY, or --from', isSecret: true }));
  // Not from the environment: whoever has set it for one command would act for that customer ever after.
  const { userToken } = issued;
  return {
    url,
    apiKey,
    ...(userToken === undefined ? {} : { userToken }),
    ...(options.allowHttp ? { allowHttp: true } : {}),
  };
}

/** What the operator sent and what is in the environment are two storages, of which never half is taken. */
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
