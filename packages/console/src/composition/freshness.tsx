import type { Composition } from '@inlet/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { Notice } from '../components/state.tsx';
import { formatDay } from '../format.ts';

type Props = {
  readonly report: Composition;
  /** Whether files of the audience are being loaded. */
  readonly isLoading: boolean;
  readonly onReload: () => void;
};

/** Shows a notice if the report does not describe the current devices of the audience. */
export function Freshness({ report: { current, next_report_at, computed_at }, isLoading, onReload }: Props) {
  const [loadedSince, setLoadedSince] = useState<string | null>(null);
  useEffect(() => {
    if (isLoading) setLoadedSince(computed_at);
  }, [isLoading, computed_at]);
  if (!current) {
    return (
      <Notice kind="warn">
        The audience or its baseline has changed since this report was counted, and the limit for new reports is
        reached.
        {next_report_at !== null && ` A new report is possible on ${formatDay(next_report_at)}.`}
      </Notice>
    );
  }
  if (isLoading) return <Notice>Files are being loaded. The report does not include them yet.</Notice>;
  if (loadedSince !== computed_at) return null;
  return (
    <Notice>
      <div class="row">
        Files were loaded after this report was counted.
        <button
          type="button"
          onClick={() => {
            setLoadedSince(null);
            onReload();
          }}
        >
          Show a current report
        </button>
      </div>
    </Notice>
  );
}
