import type { Composition, CompositionEntry } from '@inlet/sdk/browser';
import { formatFactor } from '../format.ts';
import { assess, isComparable, typicalIndex } from './assess-entry.ts';

/** Part of the headline. A part with a tone names a difference. */
export type HeadlinePart = { readonly text: string; readonly tone?: 'over' | 'under' };

type HeadlineInput = {
  readonly report: Pick<Composition, 'matched_devices' | 'protected' | 'split' | 'totals'> & {
    readonly baseline: Pick<NonNullable<Composition['baseline']>, 'default_warehouse_segment_id' | 'devices'> | null;
  };
  /** The entries with the highest and the lowest index, without small groups. */
  readonly entries: readonly CompositionEntry[];
  /** For example `all known devices`. */
  readonly baselineName: string;
  readonly labelOf: (entry: CompositionEntry) => string;
};

const maxOver = 3;
const maxUnder = 2;

/**
 * Says what stands out. Names only differences that cannot be caused by the protection of the numbers, and sorts them
 * by the end of the range that is closer to the baseline. With a split, names only the first value of each attribute.
 */
export function headlineOf({ report, entries, baselineName, labelOf }: HeadlineInput): readonly HeadlinePart[] {
  const { totals } = report;
  if (report.matched_devices === 0) return [{ text: noMatches(report.protected) }];
  if (totals.entries === 0) return [{ text: 'There are no attributes yet by which this audience can be compared.' }];
  if (report.baseline?.devices === 0)
    return [{ text: `There is nothing to compare with: the baseline, ${baselineName}, has too few devices.` }];
  if (totals.hidden === totals.entries)
    return [{ text: 'Nothing can be said about this audience: every group is so small that its count is hidden.' }];
  if (totals.small === totals.entries)
    return [{ text: 'Nothing certain can be said about this audience: every group is too small.' }];
  if (!isComparable(report)) return [{ text: byEvent }];
  const over = pick(entries, 'over', maxOver);
  const under = pick(entries, 'under', maxUnder);
  if (over.length === 0 && under.length === 0) return [{ text: nothingStandsOut(entries, baselineName) }];
  const list = (chosen: readonly CompositionEntry[], tone: 'over' | 'under') =>
    joinParts(
      chosen.map((entry) => ({
        text: `${labelOf(entry)} (${formatFactor(entry.index ?? 0, tone === 'over' ? typicalIndex.high : typicalIndex.low)})`,
        tone,
      })),
    );
  return [
    { text: 'This audience ' },
    ...(over.length > 0 ? [{ text: 'over-indexes on ' }, ...list(over, 'over')] : []),
    ...(over.length > 0 && under.length > 0 ? [{ text: ', and ' }] : []),
    ...(under.length > 0 ? [{ text: 'under-indexes on ' }, ...list(under, 'under')] : []),
    { text: '.' },
  ];
}

const byEvent =
  'Known devices have no events, so each event is compared with all of them, which lowers the indexes. Compare the indexes of one event with each other.';

function noMatches(isProtected: boolean): string {
  return isProtected
    ? 'Nothing can be said about this audience: too few of its devices are known.'
    : 'Nothing can be said about this audience: none of its devices are known.';
}

function nothingStandsOut(entries: readonly CompositionEntry[], baselineName: string): string {
  return entries.some((entry) => assess(entry) === 'unclear')
    ? `Nothing stands out with certainty compared with ${baselineName}. Some shares differ, but that may be noise.`
    : `Nothing stands out: all attributes are about as common as among ${baselineName}.`;
}

function pick(
  entries: readonly CompositionEntry[],
  assessment: 'over' | 'under',
  most: number,
): readonly CompositionEntry[] {
  const certain = (entry: CompositionEntry): number =>
    assessment === 'over' ? -(entry.index_range?.low ?? 0) : (entry.index_range?.high ?? 0);
  const sorted = entries
    .filter((entry) => assess(entry) === assessment)
    .toSorted((one, other) => certain(one) - certain(other));
  return sorted.filter((entry, position) => sorted.findIndex(isSameAttribute(entry)) === position).slice(0, most);
}

function isSameAttribute(one: CompositionEntry): (other: CompositionEntry) => boolean {
  return (other) => other.attribute_id === one.attribute_id;
}

/** `a`, `a and b`, `a, b, and c` */
function joinParts(parts: readonly HeadlinePart[]): readonly HeadlinePart[] {
  const last = parts.length - 1;
  return parts.flatMap((part, position) => {
    if (position === 0) return [part];
    const isLast = position === last;
    return [{ text: isLast ? (last > 1 ? ', and ' : ' and ') : ', ' }, part];
  });
}
