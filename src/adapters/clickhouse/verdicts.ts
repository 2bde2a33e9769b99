import { rejectReasons, type RejectReason } from '@inlet/row-rule/reject-reason';

// While a statement runs, a verdict is a number: 0 for a good row, otherwise the place of the reason. Numbers are far
// cheaper to make and to count than names. What is kept has the names.

const reasons = Object.keys(rejectReasons);

export function verdictOf(reason: RejectReason): number {
  return reasons.indexOf(reason) + 1;
}

/** The name of the reason of a verdict, empty for a good row. */
export function reasonSql(verdict: string): string {
  const names = ['', ...reasons].map((name) => `'${name}'`);
  return `[${names.join(', ')}][${verdict} + 1]`;
}
