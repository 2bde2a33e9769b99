import type { TestPartner } from '../test/support/partners.ts';
import type { Running } from './service.ts';

/** Derives a device ID from a number in SQL. */
export const deviceSql = (number: string): string => `reinterpretAsUUID(sipHash128(${number}))`;

/** One line of an audience file, with an empty event. */
const memberLine = `concat(toString(${deviceSql('number')}), ',')`;

export type Numbers = { readonly from: number; readonly count: number };

/** The arguments of ClickHouse's `s3()` for a partner's object. `s3()` derives the compression from the name. */
export function objectOf({ stores }: Pick<Running, 'stores'>, partner: TestPartner, path: string) {
  const { INLET_S3_ENDPOINT, INLET_S3_ACCESS_KEY_ID, INLET_S3_SECRET_ACCESS_KEY } = stores.config;
  return {
    arguments: '{object_url: String}, {object_key: String}, {object_secret: String}',
    parameters: {
      object_url: `${INLET_S3_ENDPOINT}/${partner.bucket}/${partner.prefix}${path}`,
      object_key: INLET_S3_ACCESS_KEY_ID,
      object_secret: INLET_S3_SECRET_ACCESS_KEY?.reveal(),
    },
  };
}

/** ClickHouse generates the rows and writes them directly to the storage. */
export async function putFile(
  running: Running,
  path: string,
  { from, count }: Numbers,
  { line = memberLine, partner = running.partner }: { readonly line?: string; readonly partner?: TestPartner } = {},
): Promise<void> {
  const object = objectOf(running, partner, path);
  await running.engine.command({
    query: `INSERT INTO FUNCTION s3(${object.arguments}, 'TSVRaw', 'line String')
      SELECT ${line} FROM numbers(${from}, ${count}) SETTINGS output_format_compression_level = 6`,
    query_params: object.parameters,
  });
}

/** Writes identical files under a prefix, four at a time. */
export async function putFiles(
  running: Running,
  prefix: string,
  suffix: '.csv' | '.csv.gz',
  { files, rowsOfFile }: { readonly files: number; readonly rowsOfFile: number },
): Promise<void> {
  const numbers = Array.from({ length: files }, (_, n) => n).values();
  const put = async (): Promise<void> => {
    for (const n of numbers) {
      const path = `${prefix}${String(n).padStart(4, '0')}${suffix}`;
      await putFile(running, path, { from: n * rowsOfFile, count: rowsOfFile });
    }
  };
  await Promise.all([put(), put(), put(), put()]);
}
