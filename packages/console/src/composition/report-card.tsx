import { Empty, Skeleton } from '../components/state.tsx';
import { formatCount } from '../format.ts';
import { Legend } from './dumbbell.tsx';
import { EntriesTable } from './entries-table.tsx';
import { isolate } from './entry-labels.ts';
import { useGradually } from './use-gradually.ts';
import type { LoadedReport } from './use-report.ts';
import type { View } from './view.ts';

type Props = {
  readonly loaded: LoadedReport;
  readonly view: View;
  readonly name: string;
  readonly baselineName: string;
  readonly onChange: (view: View) => void;
  readonly onClearName: () => void;
};

/** The number of rows that fit on a printed page. The style sheet has the same number. */
const printedRows = 20;

export function ReportCard({ loaded, view, name, baselineName, onChange, onClearName }: Props) {
  const { report, entries, next, isLoading, loadMore } = loaded;
  const rows = useGradually(entries.length);
  if (!report) {
    return (
      <div class="card">
        <Skeleton lines={12} height={30} />
      </div>
    );
  }
  const { totals } = report;
  // The content below the table appears when the first page is complete, so that it does not move.
  const isFilling = rows < Math.min(entries.length, report.attributes.length);
  const listed = view.showsSmall ? totals.entries : totals.entries - totals.small;
  const omitted = view.showsSmall ? 0 : totals.small;
  return (
    <div class="card flush" aria-busy={isLoading}>
      {entries.length > 0 ? (
        <>
          <EntriesTable
            report={report}
            entries={entries}
            rows={rows}
            caption={`Attributes of the audience compared with ${baselineName}`}
            order={view.order}
            onSort={(order) => onChange({ ...view, order })}
          />
          {!isFilling && <Legend />}
        </>
      ) : (
        <NoEntries name={name} omitted={omitted} total={totals.entries} onClearName={onClearName} />
      )}
      <div class="card-foot small muted" hidden={isFilling}>
        <p aria-live="polite">
          {listed > 0 && (
            <>
              {formatCount(entries.length)} of {formatCount(listed)}{' '}
              {report.split === null ? 'attributes' : 'combinations of attribute and value'}
              {name !== '' && ` with “${isolate(name)}”`}.{' '}
            </>
          )}
          {omitted > 0 && `${formatCount(omitted)} small ${omitted === 1 ? 'group is' : 'groups are'} not listed. `}
          {entries.length > printedRows && <span class="print-only">The first {printedRows} are printed. </span>}
          {totals.hidden > 0 &&
            `The ${totals.hidden === 1 ? 'count of 1 group is' : `counts of ${formatCount(totals.hidden)} groups are`} hidden.`}
        </p>
        {omitted > 0 && (
          <button type="button" class="plain no-print" onClick={() => onChange({ ...view, showsSmall: true })}>
            Show small groups
          </button>
        )}
        {next && (
          <button type="button" class="push no-print" disabled={isLoading} onClick={loadMore}>
            Show more
          </button>
        )}
      </div>
    </div>
  );
}

type NoEntriesProps = {
  readonly name: string;
  readonly omitted: number;
  readonly total: number;
  readonly onClearName: () => void;
};

function NoEntries({ name, omitted, total, onClearName }: NoEntriesProps) {
  if (total === 0 && name !== '') {
    return (
      <Empty title={`No attributes contain “${isolate(name)}”`}>
        <button type="button" onClick={onClearName}>
          Clear the search
        </button>
      </Empty>
    );
  }
  return omitted > 0 ? (
    <Empty title="All groups are small">
      <p>Too few devices have these attributes for reliable numbers.</p>
    </Empty>
  ) : (
    <Empty title="No attributes yet">
      <p>The report shows attributes as soon as one has been imported.</p>
    </Empty>
  );
}
