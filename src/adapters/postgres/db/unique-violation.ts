import { DatabaseError } from 'pg';
import { Failure } from '../../../domain/failure.ts';

const uniqueViolation = '23505';

/** What PostgreSQL refuses because it is there already is the caller's to mend, and is told in the caller's words. */
export async function explainUniqueViolation<T>(detail: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === uniqueViolation)) throw error;
    throw new Failure('invalid_request', detail, { cause: error });
  }
}
