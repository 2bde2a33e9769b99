import type { Overlap } from '@inlet/sdk/browser';
import { formatCount, formatPercent } from '../format.ts';
import { letterOf, sortedIntersections } from './overlap-numbers.ts';

type Props = { readonly overlap: Overlap; readonly nameOf: (id: number) => string };

const columnWidth = 22;

/** An upset plot: one row per intersection, with a dot for each of its audiences and a bar for its size. */
export function UpsetPlot({ overlap, nameOf }: Props) {
  const { audiences, reach } = overlap;
  const rows = sortedIntersections(overlap);
  const largest = Math.max(1, ...rows.map(({ devices }) => devices ?? 0));
  const width = audiences.length * columnWidth;
  const centerOf = (position: number): number => (position + 0.5) * columnWidth;
  const positionOf = (id: number): number => audiences.findIndex(({ audience_id }) => audience_id === id);
  return (
    <table class="upset">
      <caption>
        Devices that are in all audiences of a row. They can also be in other audiences, so the rows do not add up.
      </caption>
      <thead>
        <tr>
          <th scope="col">
            <span class="letters">In all of</span>
          </th>
          <th scope="col" class="dots" aria-hidden="true">
            <svg class="dot-head" width={width}>
              {audiences.map(({ audience_id }, position) => (
                <text key={audience_id} x={centerOf(position)} y="12" text-anchor="middle">
                  {letterOf(position)}
                </text>
              ))}
            </svg>
          </th>
          <th scope="col" class="bars" aria-hidden="true" />
          <th scope="col" class="number">
            Devices
          </th>
          <th scope="col" class="number">
            Of the reach
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ audience_ids: ids, devices, small }) => {
          const positions = ids.map(positionOf).toSorted((one, other) => one - other);
          const letters = positions.map(letterOf);
          return (
            <tr key={letters.join('')}>
              <th scope="row" title={ids.map(nameOf).join(', ')}>
                <span class="letters">{letters.join(' + ')}</span>
                <span class="visually-hidden">: {ids.map(nameOf).join(', ')}</span>
              </th>
              <td class="dots" aria-hidden="true">
                <svg width={width} height="24">
                  <line
                    x1={centerOf(positions.at(0) ?? 0)}
                    x2={centerOf(positions.at(-1) ?? 0)}
                    y1="12"
                    y2="12"
                    class="link"
                  />
                  {audiences.map(({ audience_id }, position) => (
                    <circle
                      key={audience_id}
                      cx={centerOf(position)}
                      cy="12"
                      r="6"
                      class={positions.includes(position) ? 'in' : 'out'}
                    />
                  ))}
                </svg>
              </td>
              <td class="bars" aria-hidden="true">
                <svg width="100%" height="16">
                  <rect x="0" y="2" height="12" rx="2" width={`${((devices ?? 0) / largest) * 100}%`} />
                </svg>
              </td>
              <td class="number" data-label="Devices">
                {devices === null ? <span class="muted">hidden</span> : formatCount(devices)}
                {small && devices !== null && <span class="small-note">small</span>}
              </td>
              <td class="number" data-label="Of the reach">
                {devices === null || reach === 0 ? '–' : formatPercent(Math.min(1, devices / reach))}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
