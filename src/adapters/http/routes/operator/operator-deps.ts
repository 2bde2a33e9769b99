import type { Quotas } from '../../../../domain/quota.ts';
import type { AlertDeps } from '../../../../usecases/admin/read-alerts.ts';

/** What the operator API reads. Its data covers all partners. */
export type OperatorDeps = AlertDeps & { readonly quotas: Quotas };

/** `operator` is null if there is no console. Requests are then denied before a handler runs. */
export type WithOperator = { readonly operator: OperatorDeps | null };

export function operatorOf({ operator }: WithOperator): OperatorDeps {
  if (!operator) throw new Error('without a console, no operator can be signed in');
  return operator;
}
