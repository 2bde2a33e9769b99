import type { Page } from 'playwright-core';
import type { CompositionRecord } from '../../../src/adapters/http/routes/get-composition.ts';

/** The content of a row in a report's table. */
export type ShownEntry = {
  readonly name: string;
  readonly share: string;
  readonly baselineShare: string;
  readonly index: string;
  readonly devices: string;
};

const percents = new Intl.NumberFormat('en-US', {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const integers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** Reads the rows of the report's table. */
export async function readReportTable(page: Page): Promise<readonly ShownEntry[]> {
  const table = page.getByRole('table', { name: 'Attributes of the audience compared with' });
  await table.waitFor();
  return table
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader') })
    .evaluateAll((rows) =>
      rows.map((row) => {
        const textOf = (selector: string): string => row.querySelector(selector)?.textContent ?? '';
        return {
          name: textOf('th bdi'),
          share: textOf('[data-label=Audience]'),
          baselineShare: textOf('[data-label=Baseline]'),
          index: /\d+(?:,\d{3})*/.exec(textOf('[data-label=Index]'))?.[0] ?? '',
          devices: textOf('[data-label=Devices]'),
        };
      }),
    );
}

/** Returns the rows that the table must show for API entries whose counts are not hidden. */
export function expectedTable({ attributes }: CompositionRecord): readonly ShownEntry[] {
  return attributes.map(({ name, share, warehouse_share, index, devices }) => ({
    name,
    share: percents.format(share ?? Number.NaN),
    baselineShare: percents.format(warehouse_share ?? Number.NaN),
    index: integers.format((index ?? Number.NaN) * 100),
    devices: integers.format(devices ?? Number.NaN),
  }));
}
