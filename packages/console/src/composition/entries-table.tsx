import type { Composition, CompositionEntry } from '@inlet/sdk/browser';
import { useMemo } from 'preact/hooks';
import { formatCount, formatPercent } from '../format.ts';
import { type Assessment, assess, isComparable } from './assess-entry.ts';
import { Axis, Dumbbell } from './dumbbell.tsx';
import { valueLabel } from './entry-labels.ts';
import { type ShareScale, shareScale } from './share-scale.ts';
import type { Order } from './view.ts';

type Props = {
  readonly report: Composition;
  readonly entries: readonly CompositionEntry[];
  /** How many of the entries to render. */
  readonly rows: number;
  readonly caption: string;
  readonly order: Order;
  readonly onSort: (order: Order) => void;
};

/** The report as a table, with a plot of each row. */
export function EntriesTable({ report, entries, rows, caption, order, onSort }: Props) {
  const scale = useMemo(
    () => shareScale(entries.flatMap((entry) => [entry.share, baselineShareOf(report, entry)])),
    [report, entries],
  );
  // Reuses the elements on every render, so that only new rows are rendered.
  const all = useMemo(
    () =>
      entries.map((entry) => (
        <EntryRow key={`${entry.attribute_id} ${entry.value ?? ''}`} report={report} entry={entry} scale={scale} />
      )),
    [report, entries, scale],
  );
  const isByIndex = order !== 'devices';
  return (
    <table class="entries" style={{ '--tick': scale.position(scale.ticks[1] ?? 1) }}>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Attribute</th>
          <th scope="col" class="plot">
            <span class="visually-hidden">Plot of the shares</span>
            <Axis scale={scale} />
          </th>
          <th scope="col" class="number">
            Audience
          </th>
          <th scope="col" class="number">
            Baseline
          </th>
          <th
            scope="col"
            class="number"
            aria-sort={isByIndex ? (order === 'index' ? 'descending' : 'ascending') : undefined}
          >
            <SortButton
              text="Index"
              isSorted={isByIndex}
              isAscending={order === 'lowest_index'}
              onClick={() => onSort(order === 'index' ? 'lowest_index' : 'index')}
            />
          </th>
          <th scope="col" class="number" aria-sort={isByIndex ? undefined : 'descending'}>
            <SortButton text="Devices" isSorted={!isByIndex} isAscending={false} onClick={() => onSort('devices')} />
          </th>
        </tr>
      </thead>
      <tbody aria-busy={rows < entries.length}>{all.slice(0, rows)}</tbody>
    </table>
  );
}

/** The share that the index uses as its baseline. */
function baselineShareOf({ baseline }: Composition, entry: CompositionEntry): number | null {
  return baseline ? (entry.baseline_share ?? null) : entry.warehouse_share;
}

type SortButtonProps = {
  readonly text: string;
  readonly isSorted: boolean;
  readonly isAscending: boolean;
  readonly onClick: () => void;
};

function SortButton({ text, isSorted, isAscending, onClick }: SortButtonProps) {
  return (
    <button type="button" class="plain sort" onClick={onClick}>
      {text}
      <span class="arrow" aria-hidden="true">
        {isSorted ? (isAscending ? '↑' : '↓') : ''}
      </span>
    </button>
  );
}

const assessments: Readonly<Record<Assessment | 'none', { readonly mark: string; readonly text: string }>> = {
  over: { mark: '▲', text: 'more common than in the baseline' },
  under: { mark: '▼', text: 'less common than in the baseline' },
  typical: { mark: '=', text: 'typical' },
  unclear: { mark: '~', text: 'unclear, may be noise' },
  hidden: { mark: '', text: 'hidden' },
  none: { mark: '', text: '' },
};

type EntryRowProps = {
  readonly report: Composition;
  readonly entry: CompositionEntry;
  readonly scale: ShareScale;
};

function EntryRow({ report, entry, scale }: EntryRowProps) {
  const baselineShare = baselineShareOf(report, entry);
  const canCompare = isComparable(report);
  const assessment = canCompare ? assess(entry) : 'none';
  const { mark, text } = assessments[assessment];
  return (
    <tr>
      <th scope="row">
        <bdi>{entry.name}</bdi>
        <span class="provider">
          {entry.value !== undefined && (
            <>
              <bdi>{valueLabel(report.split, entry.value)}</bdi> ·{' '}
            </>
          )}
          <bdi>{entry.provider}</bdi>
        </span>
      </th>
      <td class="plot">
        <Dumbbell
          entry={entry}
          baselineShare={baselineShare}
          assessment={assessment}
          hasBand={canCompare}
          scale={scale}
        />
      </td>
      <td class="number audience-share" data-label="Audience">
        {entry.share === null ? <Missing text="hidden" /> : formatPercent(entry.share)}
      </td>
      <td class="number baseline-share" data-label="Baseline">
        {baselineShare === null ? <Missing text="hidden or missing" /> : formatPercent(baselineShare)}
      </td>
      <td class="number index" data-label="Index">
        {entry.index === null ? (
          <Missing text="not available" />
        ) : (
          <>
            <span class={`value ${assessment}`} title={text}>
              <span class="assessment" aria-hidden="true">
                {mark}
              </span>
              {formatIndex(entry.index)}
              {text !== '' && <span class="visually-hidden">, {text}</span>}
            </span>
            {entry.index_range !== null && entry.index_range.low < entry.index_range.high && (
              <span class="range">
                <span class="visually-hidden">, range </span>
                {formatIndex(entry.index_range.low)}–{formatIndex(entry.index_range.high)}
              </span>
            )}
          </>
        )}
      </td>
      <td class="number devices" data-label="Devices">
        {entry.devices === null ? <span class="flag">hidden</span> : formatCount(entry.devices)}
        {entry.small && entry.devices !== null && <span class="flag">small</span>}
      </td>
    </tr>
  );
}

function Missing({ text }: { readonly text: string }) {
  return (
    <span class="muted">
      <span aria-hidden="true">–</span>
      <span class="visually-hidden">{text}</span>
    </span>
  );
}

function formatIndex(index: number): string {
  return formatCount(index * 100);
}
