import { harmless } from './harmless.ts';
import type { Paint } from './paint.ts';

const words = ['pending', 'running', 'done', 'failed'] as const;
const paints = ['dim', 'cyan', 'green', 'red'] as const satisfies readonly Paint[];

type HasStatus = { readonly status: 0 | 1 | 2 | 3 };

export function statusWord({ status }: HasStatus): string {
  return words[status] ?? harmless(`status ${String(status)}`);
}

export function statusPaint({ status }: HasStatus): Paint | undefined {
  return paints[status];
}
