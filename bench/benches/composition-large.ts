import { type Bench, type Pair } from '../bench.ts';
import {
  type WarehouseSize,
  fillWarehouse,
  foldWarehouse,
  freshReport,
  sizesOfIndex,
  unlimitedReports,
} from '../report-warehouse.ts';
import { scaled } from '../scale.ts';
import { withService } from '../service.ts';
import { smallWarehouse } from './composition.ts';

const largeWarehouse: WarehouseSize = {
  known: scaled(80_000_000),
  attributes: 400,
  rowsPerAttribute: scaled(1_500_000),
};
const rounds = 5;

export const bench: Bench = {
  title:
    'Compute the composition of an audience of 1.5 million devices, with 400 attributes, 600 million rows, and 80 million known devices',
  compares:
    'Both sides measure how long Inlet takes for a report that is not stored, per 100 million attribute rows. Yardstick: the warehouse of `composition` (120 million rows).',
  goal: 1.3,
  run: async (printLine) => {
    const small = await measure(smallWarehouse, printLine);
    const large = await measure(largeWarehouse, printLine);
    const pairs = large.seconds.map((seconds, round): Pair => ({
      inlet: perRows(seconds, largeWarehouse),
      yardstick: perRows(small.seconds[round] ?? 0, smallWarehouse),
    }));
    return { pairs, rows: largeWarehouse.attributes * largeWarehouse.rowsPerAttribute, notes: large.notes };
  },
};

function perRows(seconds: number, { attributes, rowsPerAttribute }: WarehouseSize): number {
  return (seconds * 100_000_000) / (attributes * rowsPerAttribute);
}

async function measure(
  size: WarehouseSize,
  printLine: (text: string) => void,
): Promise<{ readonly seconds: readonly number[]; readonly notes: readonly string[] }> {
  return withService(
    'one',
    async (running) => {
      const audience = await fillWarehouse(running, size, printLine);
      const folded = await foldWarehouse(running);
      printLine(`folded in ${folded.toFixed(1)} s`);
      await freshReport(running, audience); // the warm-up
      const seconds: number[] = [];
      for (let round = 0; round < rounds; round += 1) {
        seconds.push(await freshReport(running, audience));
        printLine(`report: ${seconds.at(-1)?.toFixed(2)} s`);
      }
      const report = `reports: ${seconds.map((one) => one.toFixed(2)).join(', ')} s`;
      return { seconds, notes: [report, `fold of all rows: ${folded.toFixed(1)} s`, ...(await sizesOfIndex(running))] };
    },
    unlimitedReports,
  );
}
