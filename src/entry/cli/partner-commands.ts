import { type Command, Option } from 'commander';
import { toBadRowShare } from '../../domain/partner.ts';
import type { StorageGrant } from '../../ports/object-store.ts';
import { type ShownPartner, provisionPartner, setPartner, showPartner } from '../../usecases/admin/manage-partners.ts';
import { printNote, printJson } from './output.ts';
import { withWiring } from './with-wiring.ts';

export function addPartnerCommands(program: Command): void {
  const partner = program.command('partner').description('manage partners');
  partner
    .command('create')
    .argument('<name>', '2 to 40 characters (a-z, 0-9, and single hyphens); also used as the prefix in the bucket')
    .option('--without-storage', 'create no storage credentials; required with storage other than Ceph')
    .description('create a partner with an API key (shown once), a prefix, and storage credentials for that prefix')
    .action((name: string, { withoutStorage = false }: { withoutStorage?: boolean }) =>
      withWiring(async ({ config, ...deps }) => {
        const { noStorageProvisioner, storageProvisioner } = await import('../storage-provisioner.ts');
        const storage = withoutStorage ? noStorageProvisioner : storageProvisioner(config, deps.s3);
        const made = await provisionPartner<StorageGrant | null>({ ...deps, storage }, name);
        printJson({
          partner_id: made.partner.id,
          name: made.partner.name,
          external_id: await deps.partners.readExternalId(made.partner.id),
          api_key: made.apiKey.reveal(),
          storage: {
            endpoint: config.INLET_S3_ENDPOINT ?? null,
            region: config.INLET_S3_REGION,
            bucket: config.INLET_S3_BUCKET,
            prefix: made.partner.prefix,
            access_key_id: made.storage?.accessKeyId ?? null,
            secret_access_key: made.storage?.secretAccessKey.reveal() ?? null,
          },
        });
        printNote('The API key is shown only once. Inlet stores only its hash.');
        if (withoutStorage) printNote('Give the partner storage credentials that are restricted to this prefix.');
      }),
    );

  partner
    .command('show')
    .argument('<name>')
    .description('show a partner and its settings')
    .action((name: string) => withWiring(async (deps) => printJson(record(await showPartner(deps, name)))));

  partner
    .command('set')
    .argument('<name>')
    .option(
      '--audience-bad-rows <share>',
      'maximum share of rejected rows in an audience file, from 0 to 1; for example, 0.01 is 1%',
    )
    .addOption(
      new Option(
        '--unhyphenated-ids <answer>',
        'whether files may contain IDs without hyphens, which are otherwise rejected as hashes',
      ).choices(['yes', 'no']),
    )
    .description("change a partner's settings")
    .action((name: string, { audienceBadRows, unhyphenatedIds }: SetOptions) =>
      withWiring(async (deps) => {
        const settings = {
          ...(audienceBadRows === undefined ? {} : { audienceBadRowShare: toBadRowShare(audienceBadRows) }),
          ...(unhyphenatedIds === undefined ? {} : { unhyphenatedIds: unhyphenatedIds === 'yes' }),
        };
        printJson(record(await setPartner(deps, name, settings)));
      }),
    );
}

type SetOptions = { readonly audienceBadRows?: string; readonly unhyphenatedIds?: 'yes' | 'no' };

function record({ id, name, prefix, externalId, audienceBadRowShare, unhyphenatedIds }: ShownPartner): object {
  return {
    partner_id: id,
    name,
    prefix,
    external_id: externalId,
    audience_bad_row_share: audienceBadRowShare,
    unhyphenated_ids: unhyphenatedIds,
  };
}
