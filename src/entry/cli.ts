import { Command } from 'commander';
import { Failure } from '../domain/failure.ts';
import { createAttribute } from '../usecases/create-attribute.ts';
import { provisionPartner } from '../usecases/provision-partner.ts';
import { readConfig, type Config } from './config.ts';
import { createLogger } from './logging.ts';
import { migrate } from './migrate.ts';
import { storageProvisioner } from './storage.ts';
import { wire } from './wiring.ts';

// Results go to standard output, everything else to standard error, so that scripts can read the first.
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const complain = (text: string): void => void process.stderr.write(`${text}\n`);

const program = new Command('inlet').description('Operate Inlet: stores, partners and attributes.');

program
  .command('migrate')
  .description('bring PostgreSQL and ClickHouse to the schema of this version')
  .action(async () => {
    const config = readConfig();
    const ran = await migrate(config, createLogger({ name: 'inlet-migrate', level: 'warn' }));
    say(ran.length === 0 ? 'nothing to migrate' : ran.map((name) => `ran ${name}`).join('\n'));
  });

const partner = program.command('partner').description('partners and what they were given');
partner
  .command('create')
  .argument('<name>', '2 to 40 of a-z, 0-9 and single hyphens; also the prefix in the bucket')
  .description('make a partner with an API key (shown once), a prefix and storage credentials for that prefix')
  .action(async (name: string) => {
    const config = readConfig();
    const made = await withWiring(config, (deps) =>
      provisionPartner({ ...deps, storage: storageProvisioner(config, deps.s3) }, name),
    );
    const { storage } = made;
    say(
      JSON.stringify(
        {
          partner_id: made.partner.id,
          name: made.partner.name,
          api_key: made.apiKey.reveal(),
          storage: {
            endpoint: config.INLET_S3_ENDPOINT ?? null,
            region: config.INLET_S3_REGION,
            bucket: storage.bucket,
            prefix: storage.prefix,
            access_key_id: storage.accessKeyId,
            secret_access_key: storage.secretAccessKey.reveal(),
          },
        },
        null,
        2,
      ),
    );
    complain('The API key is shown only now; Inlet keeps a hash of it.');
  });

const attribute = program.command('attribute').description('what can be said of a device');
attribute
  .command('create')
  .requiredOption('--partner <name>', 'whose attribute it is')
  .requiredOption('--name <name>', 'its name')
  .option('--foreign-key <key...>', 'what the partner calls it in files with key_type 1')
  .description('make an attribute of a partner')
  .action(async (options: { partner: string; name: string; foreignKey?: string[] }) => {
    const made = await withWiring(readConfig(), (deps) =>
      createAttribute(deps, options.partner, { name: options.name, foreignKeys: options.foreignKey ?? [] }),
    );
    say(JSON.stringify({ attribute_id: made.id, name: made.name, foreign_keys: made.foreignKeys }, null, 2));
  });

async function withWiring<T>(config: Config, run: (deps: Awaited<ReturnType<typeof wire>>) => Promise<T>): Promise<T> {
  const log = createLogger({ name: 'inlet-cli', level: 'error' });
  const deps = await wire(config, { name: 'inlet-cli', boss: 'send' }, log);
  try {
    return await run(deps);
  } finally {
    await deps.close();
  }
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof Failure) complain(`${error.code}: ${error.detail}\n${error.entry.remedy}`);
  else complain(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
