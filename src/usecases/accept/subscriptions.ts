import { Failure } from '../../domain/failure.ts';
import type { Partner } from '../../domain/partner.ts';
import { isKeyTooLong, pathProblem } from '../../domain/source-file.ts';

/** Throws unless the path is a valid prefix below the partner's prefix. */
export function requireSubscribedPrefix({ prefix: partnerPrefix }: Partner, prefix: string): void {
  const problem =
    pathProblem(prefix) ?? (isKeyTooLong(partnerPrefix + prefix) ? 'is too long together with your prefix' : null);
  if (problem === null) return;
  const detail = `prefix ${problem}.`;
  throw new Failure('invalid_file_path', detail, { fields: [{ pointer: '/prefix', detail }] });
}
