import type { ImportLog } from '@inlet/sdk/browser';
import { formatCount } from '../format.ts';
import { rejectedRows } from './describe-import.ts';

/** The number of rejected rows, with a link to them. */
export function RejectedCount({ record }: { readonly record: Pick<ImportLog, 'import_log_id' | 'errors'> }) {
  const rejected = rejectedRows(record);
  if (rejected === 0) return <>0</>;
  return <a href={`/console/imports/${record.import_log_id}/errors`}>{formatCount(rejected)}</a>;
}
