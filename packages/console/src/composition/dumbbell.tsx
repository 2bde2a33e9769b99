import type { CompositionEntry } from '@inlet/sdk/browser';
import { formatPercent, formatWholePercent } from '../format.ts';
import { type Assessment, typicalIndex } from './assess-entry.ts';
import { type ShareScale, widthBetween } from './share-scale.ts';

type Props = {
  readonly entry: CompositionEntry;
  readonly baselineShare: number | null;
  readonly assessment: Assessment | 'none';
  /** Whether shares close to the baseline share are typical. */
  readonly hasBand: boolean;
  readonly scale: ShareScale;
};

/** A plot of the numbers in the same row. Because it repeats them, it is hidden from screen readers. */
export function Dumbbell({ entry: { share, index_range }, baselineShare, assessment, hasBand, scale }: Props) {
  const { position } = scale;
  const tone = assessment === 'over' || assessment === 'under' ? assessment : '';
  return (
    <svg class="dumbbell" aria-hidden="true" focusable="false">
      {hasBand && baselineShare !== null && (
        <rect
          class="band"
          x={position(baselineShare * typicalIndex.low)}
          width={widthBetween(scale, baselineShare * typicalIndex.low, baselineShare * typicalIndex.high)}
          y="15%"
          height="70%"
          rx="3"
        />
      )}
      {baselineShare !== null && index_range !== null && (
        <line
          class={`interval ${tone}`}
          x1={position(baselineShare * index_range.low)}
          x2={position(baselineShare * index_range.high)}
          y1="50%"
          y2="50%"
        />
      )}
      {baselineShare !== null && share !== null && (
        <line class={`bridge ${tone}`} x1={position(baselineShare)} x2={position(share)} y1="50%" y2="50%" />
      )}
      {baselineShare !== null && (
        <line class="baseline" x1={position(baselineShare)} x2={position(baselineShare)} y1="22%" y2="78%" />
      )}
      {share !== null && <circle class={`audience ${tone}`} cx={position(share)} cy="50%" r="6" />}
    </svg>
  );
}

export function Axis({ scale: { ticks, position } }: { readonly scale: ShareScale }) {
  const isWhole = ticks.every((tick) => Math.abs(tick * 100 - Math.round(tick * 100)) < 1e-6);
  const format = isWhole ? formatWholePercent : formatPercent;
  return (
    <svg class="axis" aria-hidden="true" focusable="false">
      {ticks.map((tick) => (
        <text key={tick} x={position(tick)} y="11" text-anchor="middle">
          {format(tick)}
        </text>
      ))}
    </svg>
  );
}

export function Legend() {
  return (
    <p class="legend small muted">
      <span>
        <svg class="key" aria-hidden="true">
          <circle class="audience" cx="50%" cy="50%" r="6" />
        </svg>
        audience
      </span>
      <span>
        <svg class="key" aria-hidden="true">
          <line class="baseline" x1="50%" x2="50%" y1="10%" y2="90%" />
        </svg>
        baseline
      </span>
      <span>
        <svg class="key" aria-hidden="true">
          <rect class="band" x="0" width="100%" y="10%" height="80%" rx="3" />
        </svg>
        typical: index 80 to 120
      </span>
      <span>
        <svg class="key" aria-hidden="true">
          <line class="interval" x1="0" x2="100%" y1="50%" y2="50%" />
        </svg>
        range of the exact share
      </span>
      <span>Index 100: as common as in the baseline; 150: 1.5 times as common</span>
    </p>
  );
}
