import { sql } from 'kysely';
import { acceptedRequestHours } from '../../../domain/once.ts';

/** What was accepted before counts no more, whether it was removed yet or not. */
export const endOfTime = sql<Date>`now() - make_interval(hours => ${sql.lit(acceptedRequestHours)})`;
