import type { Composition } from '@inlet/sdk/browser';
import { Notice } from '../components/state.tsx';
import { formatDay } from '../format.ts';

type Props = { readonly report: Composition; readonly isLoading: boolean };

/** Says if the report does not describe the current devices of the audience. */
export function Freshness({ report: { current, next_report_at }, isLoading }: Props) {
  if (!current) {
    return (
      <Notice kind="warn">
        The audience or its baseline has changed since this report was counted, and the limit for new reports is
        reached.
        {next_report_at !== null && ` A new report is possible on ${formatDay(next_report_at)}.`}
      </Notice>
    );
  }
  return isLoading ? <Notice>Files are being loaded. The report does not include them yet.</Notice> : null;
}
