import { Failure } from '../domain/failure.ts';

/** To an operator. */
export function noSuchJob(jobId: number): Failure {
  return new Failure('not_found', `There is no job ${jobId}. See \`inlet jobs list\`.`);
}
