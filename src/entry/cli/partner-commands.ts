import { type Column, type Output, countOf, fieldList, outputFor } from '@inlet/cli';
import { type Command, Option } from 'commander';
import { toDeviceDays } from '../../domain/device-retention.ts';
import { toBadRowShare } from '../../domain/partner.ts';
import type { StorageGrant } from '../../ports/object-store.ts';
import {
  type ShownPartner,
  provisionPartner,
  resumePartner,
  setPartner,
  showPartner,
  suspendPartner,
} from '../../usecases/admin/manage-partners.ts';
import type { PartnerState } from '../../ports/operations.ts';
import { type OutputOptions, noteIfMore, operatorCommand, pageAfter, printList, when } from './output.ts';
import { addRemovePartnerCommand } from './remove-partner-command.ts';
import { withWiring } from './with-wiring.ts';

export function addPartnerCommands(program: Command): void {
  const partner = program.command('partner').description('manage partners');
  operatorCommand(
    partner,
    'create',
    'create a partner with an API key (shown once), a prefix, and storage credentials for that prefix',
  )
    .argument('<name>', '2 to 40 characters (a-z, 0-9, and single hyphens); also used as the prefix in the bucket')
    .option('--without-storage', 'create no storage credentials; required with storage other than Ceph')
    .action((name: string, { withoutStorage = false, ...options }: OutputOptions & { withoutStorage?: boolean }) =>
      withWiring(async ({ config, ...deps }) => {
        const { noStorageProvisioner, storageProvisioner } = await import('../storage-provisioner.ts');
        const storage = withoutStorage ? noStorageProvisioner : storageProvisioner(config, deps.s3);
        const made = await provisionPartner<StorageGrant | null>({ ...deps, storage }, name);
        const issued = {
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
        };
        const output = outputFor(options);
        output.result(issued, () => fieldList(issuedFields(issued), output.stdout));
        output.note('The secrets are shown only once. For `inlet login --from`, create the partner with --json.');
        if (withoutStorage) output.note('Give the partner storage credentials that are restricted to this prefix.');
      }),
    );

  operatorCommand(partner, 'list', 'list partners with their state, open jobs, and keys')
    .option('--after <partner-id>', 'list entries after this ID')
    .action(({ after, ...options }: OutputOptions & { readonly after?: string }) =>
      withWiring(async ({ partnerReads }) => {
        const output = outputFor(options);
        const partners = await partnerReads.listPartners(pageAfter('partner', after));
        printList(output, listColumns, partners.map(listRecord), 'There are no partners.');
        noteIfMore(output, partners);
      }),
    );

  operatorCommand(partner, 'show', 'show a partner and its settings')
    .argument('<name>')
    .action((name: string, options: OutputOptions) =>
      withWiring(async (deps) => show(outputFor(options), await showPartner(deps, name))),
    );

  operatorCommand(
    partner,
    'suspend',
    'reject the keys of a partner and start none of its jobs; its data is kept, and a running job continues',
  )
    .argument('<name>')
    .action((name: string, options: OutputOptions) =>
      withWiring(async (deps) => {
        const output = outputFor(options);
        const { id } = await suspendPartner(deps, name);
        output.result({ partner_id: id, name, state: 'suspended' }, () => `partner ${name} is suspended`);
        output.note(`Undo it with \`inlet partner resume ${name}\`.`);
      }),
    );

  operatorCommand(partner, 'resume', 'accept the keys of a suspended partner again and continue its lane')
    .argument('<name>')
    .action((name: string, options: OutputOptions) =>
      withWiring(async (deps) => {
        const { id } = await resumePartner(deps, name);
        outputFor(options).result({ partner_id: id, name, state: 'active' }, () => `partner ${name} is active`);
      }),
    );

  addRemovePartnerCommand(partner);

  operatorCommand(partner, 'set', "change a partner's settings")
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
    .option(
      '--device-days <days>',
      'remove an attribute of a device this many days after the end of the last import that published it, or "off" to keep it; audiences are not affected',
    )
    .action((name: string, { audienceBadRows, unhyphenatedIds, deviceDays, ...options }: SetOptions) =>
      withWiring(async (deps) => {
        const jobDays = deps.config.INLET_RETENTION_DAYS;
        const settings = {
          ...(deviceDays === undefined ? {} : { deviceDays: toDeviceDays(deviceDays, jobDays) }),
          ...(audienceBadRows === undefined ? {} : { audienceBadRowShare: toBadRowShare(audienceBadRows) }),
          ...(unhyphenatedIds === undefined ? {} : { unhyphenatedIds: unhyphenatedIds === 'yes' }),
        };
        const output = outputFor(options);
        show(output, await setPartner(deps, name, settings));
        if (typeof settings.deviceDays !== 'number') return;
        output.note('The first removal starts in an hour and cannot be undone.');
        output.note(`Until then, prevent it with \`inlet partner set ${name} --device-days off\`.`);
      }),
    );
}

type SetOptions = OutputOptions & {
  readonly audienceBadRows?: string;
  readonly unhyphenatedIds?: 'yes' | 'no';
  readonly deviceDays?: string;
};

const listColumns: readonly Column<ReturnType<typeof listRecord>>[] = [
  { title: 'ID', align: 'right', of: ({ partner_id }) => partner_id },
  { title: 'NAME', of: ({ name }) => name, canShrink: true },
  { title: 'STATE', of: ({ state }) => state },
  { title: 'OPEN JOBS', align: 'right', of: ({ open_jobs }) => countOf(open_jobs) },
  { title: 'VALID KEYS', align: 'right', of: ({ api_keys }) => countOf(api_keys.valid) },
  {
    title: 'STORED ROWS',
    align: 'right',
    of: ({ stored_rows }) => (stored_rows === null ? 'not measured' : countOf(stored_rows)),
  },
  {
    title: 'DEVICE DAYS',
    align: 'right',
    of: ({ device_days }) => (device_days === null ? '-' : countOf(device_days)),
  },
  { title: 'LAST ACTIVE', of: ({ last_active_at }) => when(last_active_at) },
  { title: 'CREATED', of: ({ created_at }) => when(created_at) },
];

function listRecord(partner: PartnerState) {
  return {
    partner_id: partner.id,
    name: partner.name,
    state: stateOf(partner),
    open_jobs: partner.openJobs,
    api_keys: partner.apiKeys,
    stored_rows: usedIfMeasured(partner.usage.storedRows),
    device_days: partner.deviceDays,
    last_active_at: partner.lastActiveAt,
    created_at: partner.createdAt,
    suspended_at: partner.suspendedAt,
  };
}

/** A new partner is measured within minutes. Until then, the number is a placeholder. */
function usedIfMeasured({ used, measuredAt }: PartnerState['usage']['storedRows']): number | null {
  return measuredAt === null ? null : used;
}

function stateOf({ suspendedAt }: { readonly suspendedAt: Date | null }): 'active' | 'suspended' {
  return suspendedAt === null ? 'active' : 'suspended';
}

function show(output: Output, partner: ShownPartner): void {
  output.result(record(partner), () =>
    fieldList(
      [
        ['partner ID', String(partner.id)],
        ['name', partner.name],
        ['state', stateOf(partner)],
        ['prefix', partner.prefix],
        ['external ID', partner.externalId],
        ['allowed bad rows', `${partner.audienceBadRowShare * 100} % of an audience file`],
        ['unhyphenated IDs', partner.unhyphenatedIds ? 'accepted' : 'rejected'],
        ...retentionFields(partner),
      ],
      output.stdout,
    ),
  );
}

function retentionFields({ deviceDays, deviceRetention }: ShownPartner): [string, string][] {
  const { removedRows, removedAt, dueAt, failure } = deviceRetention;
  return [
    ['unseen devices', deviceDays === null ? 'kept' : `removed after ${deviceDays} days`],
    ...(removedAt === null
      ? []
      : [['removed rows', `${countOf(removedRows)}, last ${when(removedAt)}`] satisfies [string, string]]),
    ...(dueAt === null ? [] : [['next removal', when(dueAt)] satisfies [string, string]]),
    ...(failure === null ? [] : [['last failure', failure] satisfies [string, string]]),
  ];
}

type Issued = {
  readonly partner_id: number;
  readonly name: string;
  readonly external_id: string;
  readonly api_key: string;
  readonly storage: Readonly<Record<string, string | null>>;
};

function issuedFields({ partner_id, name, external_id, api_key, storage }: Issued): [string, string][] {
  return [
    ['partner ID', String(partner_id)],
    ['name', name],
    ['external ID', external_id],
    ['API key', api_key],
    ...Object.entries(storage).map(([field, value]): [string, string] => [
      `storage ${field.replaceAll('_', ' ').replace(' id', ' ID')}`,
      value ?? '-',
    ]),
  ];
}

function record(partner: ShownPartner): object {
  const { id, name, prefix, externalId, audienceBadRowShare, unhyphenatedIds, deviceDays, deviceRetention } = partner;
  return {
    partner_id: id,
    name,
    state: stateOf(partner),
    prefix,
    external_id: externalId,
    audience_bad_row_share: audienceBadRowShare,
    unhyphenated_ids: unhyphenatedIds,
    device_days: deviceDays,
    device_retention: {
      removed_rows: deviceRetention.removedRows,
      removed_at: deviceRetention.removedAt,
      due_at: deviceRetention.dueAt,
      failure: deviceRetention.failure,
    },
  };
}
