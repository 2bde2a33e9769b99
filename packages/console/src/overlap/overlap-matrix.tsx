import type { Overlap } from '@inlet/sdk/browser';
import { formatCount, formatPercent } from '../format.ts';
import { type PairShare, heatOf, letterOf, pairShares } from './overlap-numbers.ts';

type Props = { readonly overlap: Overlap; readonly nameOf: (id: number) => string };

/** How much of each audience is in each other audience. The color shows the same as the number. */
export function OverlapMatrix({ overlap, nameOf }: Props) {
  const shares = pairShares(overlap);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard scrolls a wide table
    <section class="scroll" tabIndex={0} aria-label="Pairs of audiences">
      <table class="matrix">
        <caption>Share of the devices of the audience in a row that are also in the audience in a column</caption>
        <thead>
          <tr>
            <th scope="col">Audience</th>
            <th scope="col" class="number">
              Devices
            </th>
            {overlap.audiences.map(({ audience_id }, position) => (
              <th key={audience_id} scope="col" class="cell" title={nameOf(audience_id)}>
                {letterOf(position)}
                <span class="visually-hidden"> {nameOf(audience_id)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {overlap.audiences.map(({ audience_id, devices }, row) => (
            <tr key={audience_id}>
              <th scope="row">
                <span class="letter">{letterOf(row)}</span> <bdi>{nameOf(audience_id)}</bdi>
              </th>
              <td class="number">{formatCount(devices)}</td>
              {shares[row]?.map((share, column) => (
                <Cell key={overlap.audiences[column]?.audience_id} share={share} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Cell({ share }: { readonly share: PairShare | undefined }) {
  if (share === undefined) {
    return (
      <td class="cell same">
        <span class="visually-hidden">same audience</span>
      </td>
    );
  }
  if (share === null) return <td class="cell muted">hidden</td>;
  return (
    <td class={`cell heat-${heatOf(share.share)}`} title={`${formatCount(share.devices)} devices`}>
      {formatPercent(share.share)}
      {share.small && <span class="small-note">small</span>}
    </td>
  );
}
