import type { Limits } from '@inlet/sdk/browser';

export type Usage = {
  readonly name: string;
  readonly used: number;
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

const names = {
  stored_rows: 'Stored rows',
  stored_bytes: 'Stored bytes',
  audiences: 'Audiences',
  attributes: 'Attributes',
  foreign_keys: 'Foreign keys',
  idempotency_keys: 'Idempotency keys',
} as const satisfies Record<keyof Limits['quotas'], string>;

const order = ['stored_rows', 'stored_bytes', 'audiences', 'attributes', 'foreign_keys', 'idempotency_keys'] as const;

export function quotasOf({ quotas }: Pick<Limits, 'quotas'>): readonly Usage[] {
  return order.map((quota) => {
    const { limit, used, ...measured } = quotas[quota];
    const measuredAt = 'measured_at' in measured ? measured.measured_at : undefined;
    return { name: names[quota], used, limit, isBytes: quota === 'stored_bytes', measuredAt };
  });
}

const nearlyFull = 0.9;

export function stateOf({ used, limit }: Pick<Usage, 'used' | 'limit'>): 'fine' | 'near' | 'full' {
  if (limit === 0 || used < limit * nearlyFull) return 'fine';
  return used < limit ? 'near' : 'full';
}
