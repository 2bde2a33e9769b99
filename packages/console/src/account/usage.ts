import type { Limits } from '@inlet/sdk/browser';
import { quotas, quotaTitles } from '../components/quotas.ts';

export type Usage = {
  readonly name: string;
  /** Null if it was never measured. */
  readonly used: number | null;
  /** 0 means that there is no limit. */
  readonly limit: number;
  readonly isBytes: boolean;
  /** Undefined if the usage is counted with every request, and null if it was never measured. */
  readonly measuredAt: string | null | undefined;
};

export function budgetsOf({ reports: { composition, overlap } }: Pick<Limits, 'reports'>): readonly Usage[] {
  return [
    { name: 'Composition reports', ...composition, isBytes: false, measuredAt: undefined },
    { name: 'Overlaps', ...overlap, isBytes: false, measuredAt: undefined },
  ];
}

export function quotasOf(limits: NonNullable<Limits['quotas']>): readonly Usage[] {
  return quotas.map((quota) => {
    const { limit, used, ...measured } = limits[quota];
    const measuredAt = 'measured_at' in measured ? measured.measured_at : undefined;
    return {
      name: quotaTitles[quota],
      used: measuredAt === null ? null : used,
      limit,
      isBytes: quota === 'stored_bytes',
      measuredAt,
    };
  });
}

const nearlyFull = 0.9;

export function stateOf({ used, limit }: Pick<Usage, 'used' | 'limit'>): 'fine' | 'near' | 'full' {
  if (used === null || limit === 0 || used < limit * nearlyFull) return 'fine';
  return used < limit ? 'near' : 'full';
}
