import { describe, expect, it } from 'vitest';
import { type Noise, cosSquaredNoise } from './noise.ts';
import { drawsOfOverlap, intersectionsOf, protectOverlap } from './overlap.ts';
import { type Protection, defaultProtection, protectReport } from './protection.ts';

// The attacker wants to find out whether one device has an attribute. They upload lists in which they know the
// attributes of every other device, so the count is either `base` or `base + 1`. They choose `base` and know all
// settings and the noise distribution, but not the key. They decide based on the joint likelihood of all reports, which
// is optimal.

/** Maps a hash of the message to [0, 1). Replaces the HMAC, which takes ten times as long. */
function draw(message: string): number {
  let [low, high] = [0xdeadbeef, 0x41c6ce57];
  for (let at = 0; at < message.length; at += 1) {
    const unit = message.charCodeAt(at);
    low = Math.imul(low ^ unit, 2_654_435_761);
    high = Math.imul(high ^ unit, 1_597_334_677);
  }
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return (low >>> 0) / 2 ** 32;
}

const reports = 100;
const targets = 1000;
const { noise: bound } = defaultProtection;

type Shape = { readonly noise: Noise; readonly weight: (value: number) => number };

const cosSquared: Shape = {
  noise: cosSquaredNoise(draw, bound),
  weight: (value) => Math.cos((Math.PI * value) / (2 * (bound + 1))) ** 2 / (bound + 1),
};
const uniform: Shape = {
  noise: (about) => Math.floor(draw(JSON.stringify(about)) * (2 * bound + 1)) - bound,
  weight: () => 1 / (2 * bound + 1),
};

/** Returns the probability of each published number for a count, as the attacker computes it. */
function shownFor(count: number, shape: Shape, protection: Protection): Map<number | null, number> {
  const likely = new Map<number | null, number>();
  for (let value = -bound; value <= bound; value += 1) {
    const shown = show(count, '', () => value, protection);
    likely.set(shown, (likely.get(shown) ?? 0) + shape.weight(value));
  }
  return likely;
}

function show(count: number, members: string, noise: Noise, protection: Protection): number | null {
  const cell = { attributeId: 1, value: null, devices: count, warehouseDevices: 9000, warehouseState: '' };
  const counts = { members, matchedDevices: 5000, knownDevices: 100_000, countries: {}, cells: [cell] };
  return protectReport(counts, null, protection, noise).entries[0]?.devices ?? null;
}

/** Returns how much one report reveals when the count is `base` or `base + 1`, from 0 (nothing) to 1 (everything). */
function informationIn(base: number, shape: Shape, protection: Protection): number {
  const [without, withDevice] = [shownFor(base, shape, protection), shownFor(base + 1, shape, protection)];
  const alike = [...without].map(([shown, p]) => Math.sqrt(p * (withDevice.get(shown) ?? 0)));
  return 1 - alike.reduce((sum, part) => sum + part, 0);
}

/**
 * Returns the share of targets that the attacker classifies correctly. Successive reports use the counts in `bases` in
 * turn.
 */
function successOf(bases: readonly number[], shape: Shape, protection: Protection): number {
  const tables = bases.map((base) => [base, base + 1].map((count) => shownFor(count, shape, protection)));
  let right = 0;
  for (let target = 0; target < targets; target += 1) {
    const hasAttribute = draw(`truth about ${target}`) < 0.5;
    let evidence = 0;
    for (let report = 0; report < reports; report += 1) {
      const turn = report % bases.length;
      const count = (bases[turn] ?? 0) + Number(hasAttribute);
      const shown = show(count, `target ${target} report ${report}`, shape.noise, protection);
      const [without = 0, withDevice = 0] = (tables[turn] ?? []).map((table) => table.get(shown) ?? 0);
      evidence += Math.log(withDevice) - Math.log(without);
    }
    right += evidence === 0 ? 0.5 : Number(evidence > 0 === hasAttribute);
  }
  return right / targets;
}

/** The attacker can choose any count: near the hiding threshold, near a rounding step, or several in turn. */
function bestSuccess(shape: Shape, protection: Protection): number {
  const candidates = Array.from({ length: 120 }, (_, n) => 20 + n).concat(
    Array.from({ length: 60 }, (_, n) => 1000 + n),
  );
  const information = new Map(candidates.map((candidate) => [candidate, informationIn(candidate, shape, protection)]));
  const byInformation = candidates.toSorted((a, b) => (information.get(b) ?? 0) - (information.get(a) ?? 0));
  const strategies = [byInformation.slice(0, 1), byInformation.slice(0, 8)];
  return Math.max(...strategies.map((bases) => successOf(bases, shape, protection)));
}

/**
 * To find out whether one device is in the first audience, the attacker has put the device in all other audiences. One
 * overlap then shows several numbers that depend on the answer.
 */
function successOfOverlaps(audiences: number, base: number): number {
  const [without, withDevice] = [base, base + 1].map((count) => shownFor(count, cosSquared, defaultProtection));
  const sets = intersectionsOf(audiences);
  const overlaps = Math.floor(reports / drawsOfOverlap(audiences));
  let right = 0;
  for (let target = 0; target < targets; target += 1) {
    const isMember = draw(`truth about ${target}`) < 0.5;
    let evidence = 0;
    for (let overlap = 0; overlap < overlaps; overlap += 1) {
      const exact = (positions: readonly number[]): number => base + Number(isMember && positions.includes(0));
      const published = protectOverlap(
        {
          audiences: Array.from({ length: audiences }, (_, n) => ({
            audienceId: n,
            content: `target ${target} overlap ${overlap} list ${n}`,
            devices: exact([n]),
          })),
          intersections: sets.map(exact),
          reach: 10 * base,
        },
        defaultProtection,
        cosSquared.noise,
      );
      const observed = [
        ...published.intersections.filter((_, index) => sets[index]?.includes(0)).map(({ devices }) => devices),
        published.audiences[0]?.devices ?? null,
      ];
      for (const shown of observed)
        evidence += Math.log(withDevice?.get(shown) ?? 1) - Math.log(without?.get(shown) ?? 1);
    }
    right += evidence === 0 ? 0.5 : Number(evidence > 0 === isMember);
  }
  return right / targets;
}

function printSuccess(name: string, success: number): number {
  process.stdout.write(`${name}: correct for ${(100 * success).toFixed(1)} %\n`);
  return success;
}

describe('an optimal attacker with 100 reports about each device', () => {
  it('guesses at most three in four devices correctly', { timeout: 60_000 }, () => {
    const success = printSuccess('default protection', bestSuccess(cosSquared, defaultProtection));
    expect(success).toBeLessThanOrEqual(0.75);
    // The attacker must learn something. Otherwise the attack is broken and proves nothing.
    expect(success).toBeGreaterThan(0.65);
  });

  it.each([2, 5, 10])('guesses at most three in four devices correctly from overlaps of %d audiences', (audiences) => {
    const bases = Array.from({ length: 25 }, (_, n) => 1000 + n);
    const best = bases.toSorted(
      (one, other) =>
        informationIn(other, cosSquared, defaultProtection) - informationIn(one, cosSquared, defaultProtection),
    )[0];
    const success = printSuccess(`overlaps of ${audiences}`, successOfOverlaps(audiences, best ?? 1000));
    expect(success).toBeLessThanOrEqual(0.75);
    expect(success).toBeGreaterThan(0.65);
  });

  it('guesses more devices correctly without rounding', { timeout: 60_000 }, () => {
    expect(
      printSuccess('without rounding', bestSuccess(cosSquared, { ...defaultProtection, roundTo: 0 })),
    ).toBeGreaterThan(0.79);
  });

  it('guesses almost every device correctly when the noise is uniform', { timeout: 60_000 }, () => {
    expect(printSuccess('uniform noise', bestSuccess(uniform, { ...defaultProtection, roundTo: 0 }))).toBeGreaterThan(
      0.95,
    );
  });

  it('guesses every device correctly without protection', { timeout: 60_000 }, () => {
    const off: Protection = { hideUnder: 0, flagUnder: 0, noise: 0, roundTo: 0 };
    expect(bestSuccess({ noise: () => 0, weight: (value) => Number(value === 0) }, off)).toBe(1);
  });
});
