import { CliFailure, exitCode, exitCodeOf } from '@inlet/cli';
import { transientErrorKind } from '../../adapters/transient-errors.ts';
import { Failure } from '../../domain/failure.ts';
import type { FailureCode } from '../../domain/failure-catalog.ts';
import { SchemaError } from '../../adapters/postgres/db/schema-error.ts';
import { SettingsError } from '../settings-error.ts';

/** Remedies for operators. The remedies in the catalog are for partners and refer to requests. */
const remedies: Partial<Readonly<Record<FailureCode, string>>> = {
  not_found: 'List what exists, for example with `inlet partner list` or `inlet jobs list`.',
  invalid_request: 'Correct the value. Run the command with --help for usage.',
  unavailable: 'Run `inlet doctor` to find the cause.',
};

/** Converts an error from an operator command to a failure. Returns null for unexpected errors. */
export function toFailure(error: unknown): CliFailure | null {
  if (error instanceof Failure) return ofFailure(error);
  if (error instanceof SettingsError) {
    return new CliFailure({
      code: 'invalid_settings',
      detail: error.heading,
      more: error.lines,
      fields: error.problems.map(({ variable, problem }) => ({ pointer: variable, detail: problem })),
      remedy: 'Correct these variables. docs/configuration.md lists all settings.',
      exitCode: exitCode.wrongUse,
    });
  }
  if (error instanceof SchemaError) {
    return new CliFailure({
      code: 'not_migrated',
      detail: error.message.replace(/ Run `inlet migrate`\.$/, ''),
      remedy: 'Run `inlet migrate`.',
      exitCode: exitCode.failed,
    });
  }
  return transientErrorKind(error) === null && !isRejectedLogin(error) ? null : ofServer(error);
}

function ofFailure({ code, detail, entry, fields }: Failure): CliFailure {
  return new CliFailure({
    code,
    problemTitle: entry.title,
    detail,
    fields: fields.length === 0 ? undefined : fields,
    remedy: remedies[code] ?? entry.remedy,
    exitCode: exitCodeOf(entry.status ?? 0),
  });
}

/** PostgreSQL rejects the password, or the database does not exist. */
function isRejectedLogin(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ['28P01', '28000', '3D000'].includes(String(error.code));
}

function ofServer(error: unknown): CliFailure {
  return new CliFailure({
    code: 'unavailable',
    detail: `A server cannot be used: ${textOf(error)}`,
    remedy: 'Run `inlet doctor` to find the cause.',
    exitCode: exitCode.unavailable,
  });
}

/** A socket error may have an empty message. */
function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(textOf).join('; ');
  if (!(error instanceof Error)) return String(error);
  return error.message === '' && 'code' in error ? String(error.code) : error.message;
}
