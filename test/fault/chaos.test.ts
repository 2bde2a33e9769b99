import { describe, expect, it } from 'vitest';
import { runChaos } from '../chaos/chaos.ts';

// `npm run test:long` runs the same test for five minutes with more partners.

describe('chaos', () => {
  it('the auditor reports nothing after random requests under random faults', async () => {
    const { findings, jobs, faults } = await runChaos({ minutes: 0.3, seed: 18, partners: 8, workers: 3 });
    expect(findings).toEqual([]);
    expect(jobs).toBeGreaterThan(10);
    expect(faults).toBeGreaterThan(1);
  });
});
