import { sql } from 'kysely';

/** An interrupted repair leaves its loads behind. After this time, no repair is still running. */
export const repairLifetime = sql<string>`interval '1 day'`;

/** Repairs that started later than this may still be running. */
export const oldestRepair = sql<Date>`now() - ${repairLifetime}`;
