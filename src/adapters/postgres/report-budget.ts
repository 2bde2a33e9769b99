import { sql } from 'kysely';
import { type BudgetKind, type SpentDraws, budgetDays } from '../../domain/composition/budget.ts';
import type { BudgetOwner, BudgetStore, Charge } from '../../ports/report-store.ts';
import { advisoryLocks } from './db/advisory-locks.ts';
import type { Database, Tx } from './db/tables.ts';

/** The customer ID that represents the partner itself. */
const noCustomer = 0;

export function postgresBudgetStore(db: Database): BudgetStore {
  return { findSpent: (owner, kind) => selectSpent(db, owner, kind) };
}

/** Holds the lock until the end of the transaction, so that a partner's claims run one at a time. */
export async function lockBudget(tx: Tx, { partnerId }: BudgetOwner): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${String(partnerId)}, ${advisoryLocks.reportBudget}))`.execute(
    tx,
  );
}

/** Returns false if the budget is spent. Call it in the transaction that stores the result, after `lockBudget`. */
export async function chargeBudget(tx: Tx, { owner, kind, draws, isAllowed }: Charge): Promise<boolean> {
  if (!isAllowed(await selectSpent(tx, owner, kind))) return false;
  await tx
    .insertInto('report_draw')
    .values({ partner_id: owner.partnerId, customer_id: owner.customerId ?? noCustomer, kind, draws })
    .execute();
  return true;
}

async function selectSpent(db: Database | Tx, owner: BudgetOwner, kind: BudgetKind): Promise<SpentDraws> {
  const { partnerId, customerId } = owner;
  const { rows } = await sql<{ draws: number; at: Date; is_own: boolean; is_today: boolean }>`
    SELECT draws, drawn_at AS at, customer_id = ${customerId ?? noCustomer} AS is_own,
      drawn_at >= date_trunc('day', now(), 'UTC') AS is_today
    FROM report_draw
    WHERE partner_id = ${partnerId} AND kind = ${kind} AND drawn_at > now() - make_interval(days => ${budgetDays})
      AND (customer_id = ${customerId ?? noCustomer} OR drawn_at >= date_trunc('day', now(), 'UTC'))
    ORDER BY drawn_at, id`.execute(db);
  return {
    ofCustomer: rows.filter(({ is_own }) => is_own).map(({ draws, at }) => ({ draws, at })),
    ofPartnerToday: rows.filter(({ is_today }) => is_today).reduce((sum, { draws }) => sum + draws, 0),
  };
}
