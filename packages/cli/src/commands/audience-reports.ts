import type { Composition, Overlap } from '@inlet/sdk';
import { type Command, Option } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { countOf } from '../terminal/format.ts';
import { outputFor } from '../terminal/output.ts';
import { type Column, table } from '../terminal/table.ts';
import { toId, wholeNumber } from './arguments.ts';

type Entry = Composition['attributes'][number];
type Intersection = Overlap['intersections'][number];

type ReportOptions = CommonOptions & {
  readonly split?: 'id_type' | 'country' | 'event';
  readonly order: 'devices' | 'index' | 'lowest_index';
  readonly limit: number;
  readonly baseline?: string;
  readonly country?: string;
};

const hidden = 'hidden';
const percent = (share: number | null): string => (share === null ? hidden : `${(100 * share).toFixed(1)}%`);
const ratio = (index: number | null): string => (index === null ? hidden : index.toFixed(2));
const range = (found: Entry['index_range']): string =>
  found === null ? '' : `${found.low.toFixed(2)}–${found.high.toFixed(2)}`;

const columns: readonly Column<Entry>[] = [
  { title: 'ATTRIBUTE', of: ({ name }) => name, canShrink: true },
  { title: 'PROVIDER', of: ({ provider }) => provider },
  { title: 'VALUE', of: ({ value = '' }) => value },
  { title: 'DEVICES', align: 'right', of: ({ devices }) => (devices === null ? hidden : countOf(devices)) },
  { title: 'SHARE', align: 'right', of: ({ share }) => percent(share) },
  { title: 'WAREHOUSE', align: 'right', of: ({ warehouse_share }) => percent(warehouse_share) },
  {
    title: 'BASELINE',
    align: 'right',
    of: ({ baseline_share: found = null }) => (found === null ? 'n/a' : percent(found)),
  },
  { title: 'INDEX', align: 'right', of: ({ index }) => ratio(index) },
  { title: 'RANGE', align: 'right', of: ({ index_range }) => range(index_range) },
];

export function addAudienceReports(audience: Command): void {
  partnerCommand(audience, 'report', {
    description: 'show how common each attribute is among the devices in an audience',
    examples: [
      ['inlet audience report 3 --order index', 'Show the most characteristic attributes.'],
      ['inlet audience report 3 --baseline 4', 'Compare with another audience.'],
    ],
  })
    .argument('<id>', 'audience ID')
    .addOption(new Option('--split <field>', 'show one row per value').choices(['id_type', 'country', 'event']))
    .addOption(
      new Option('--order <order>', 'sort the report').choices(['devices', 'index', 'lowest_index']).default('devices'),
    )
    .option('--limit <number>', 'maximum number of rows, up to 100', wholeNumber(1, 100), 20)
    .addOption(
      new Option('--baseline <id>', 'compare with this audience instead of the whole warehouse').conflicts('country'),
    )
    .option('--country <code>', 'compare with the devices of this country instead of the whole warehouse')
    .action(async (text: string, { split, order, limit, baseline, country, ...options }: ReportOptions) => {
      const output = outputFor(options);
      const inlet = await connect(options);
      const segmentOf = async (id: string): Promise<number> =>
        valueOf(await inlet.getAudience(toId('audience', id))).default_warehouse_segment_id;
      const query = {
        split,
        order,
        limit,
        baseline_segment_id: baseline === undefined ? undefined : await segmentOf(baseline),
        baseline_country: country,
      };
      const report = valueOf(await inlet.getComposition(await segmentOf(text), { query }));
      const unused = new Set([split === undefined ? 'VALUE' : '', report.baseline === null ? 'BASELINE' : 'WAREHOUSE']);
      const shown = columns.filter(({ title }) => !unused.has(title));
      output.result(report, () => table(shown, report.attributes, output.stdout));
      output.note(`${countOf(report.matched_devices)} matched devices, computed ${report.computed_at}`);
      if (report.next_report_at !== null)
        output.note(
          `The audience has changed since then. The privacy budget allows a new report at ${report.next_report_at}.`,
        );
    });

  partnerCommand(audience, 'overlap', {
    description: 'show how many devices audiences have in common',
    examples: [['inlet audience overlap 3 4', 'Compare two audiences.']],
  })
    .argument('<ids...>', 'IDs of 2 to 10 audiences')
    .action(async (texts: readonly string[], options: CommonOptions) => {
      const output = outputFor(options);
      const audience_ids = texts.map((text) => toId('audience', text));
      const inlet = await connect(options);
      const overlap = valueOf(await inlet.getOverlap({ audience_ids }));
      const sizes: readonly Intersection[] = overlap.audiences.map(({ audience_id, devices }) => ({
        audience_ids: [audience_id],
        devices,
        small: false,
      }));
      output.result(overlap, () => table(overlapColumns, [...sizes, ...overlap.intersections], output.stdout));
      output.note(`${countOf(overlap.reach)} devices are in at least one of these audiences.`);
    });
}

const overlapColumns: readonly Column<Intersection>[] = [
  { title: 'AUDIENCES', of: ({ audience_ids }) => audience_ids.join(' and ') },
  { title: 'DEVICES', align: 'right', of: ({ devices }) => (devices === null ? hidden : countOf(devices)) },
];
