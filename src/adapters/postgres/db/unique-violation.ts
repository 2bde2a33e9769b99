import { DatabaseError } from 'pg';
import { Failure } from '../../../domain/failure.ts';

const uniqueViolation = '23505';

/** Converts a unique violation to a failure that the caller can fix. */
export async function explainUniqueViolation<T>(detail: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof DatabaseError && error.code === uniqueViolation)) throw error;
    throw new Failure('invalid_request', detail, { cause: error });
  }
}
