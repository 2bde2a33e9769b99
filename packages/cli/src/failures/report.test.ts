import type { Problem } from '@inlet/sdk';
import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { fakeTerminal } from '../../../../test/support/fake-terminal.ts';
import { failureOf, remedyOf } from './api-errors.ts';
import { CliFailure } from './cli-failure.ts';
import { report } from './report.ts';

function reported(error: unknown, options?: Parameters<typeof report>[1]): { text: string; code: number } {
  const { stream, written } = fakeTerminal(false);
  const code = report(error, options, stream);
  return { code, text: written() };
}

const answer: Problem = {
  from: 'api',
  code: 'invalid_request',
  type: 'urn:inlet:error:invalid_request',
  status: 400,
  title: 'Invalid request',
  detail: 'One field is wrong.',
  instance: '/v1',
  request_id: 'r-1',
  errors: [{ pointer: '/key_type', detail: 'must be 0 or 1\x1b[2J' }],
  attempts: 1,
};

describe('report', () => {
  it('shows the code, cause, fields, remedy, and request ID of an API error', () => {
    expect(reported(failureOf(answer))).toEqual({
      code: 2,
      text: [
        'error: invalid_request: Invalid request',
        '  cause:   One field is wrong.',
        String.raw`  field:   /key_type must be 0 or 1\x1b[2J`,
        '  remedy:  Correct the values listed above. Run `inlet <command> --help` for usage.',
        '  request: r-1',
        '',
      ].join('\n'),
    });
  });

  it('shows the number of attempts after a connection error', () => {
    const problem: Problem = { from: 'sdk', code: 'network_failed', detail: 'connect ECONNREFUSED', attempts: 5 };
    const { code, text } = reported(failureOf(problem));
    expect(code).toBe(4);
    expect(text).toMatch(/^error: network_failed: connect ECONNREFUSED \(tried 5 times\)\n {2}remedy: {2}\S/);
  });

  it.each([
    ['SlowDown', 503, true, 4, 'Run the same command again later'],
    ['InternalError', 200, true, 4, 'Run the same command again later'],
    ['AccessDenied', 403, false, 3, '`inlet login`'],
    ['SignatureDoesNotMatch', 403, false, 3, '`inlet login`'],
    ['RequestTimeTooSkewed', 403, false, 3, "machine's clock"],
    ['NoSuchBucket', 404, false, 1, '`inlet login`'],
    ['NoSuchUpload', 404, false, 1, 'Run it again'],
    ['EntityTooLarge', 400, false, 1, 'documentation'],
  ])('maps the storage error %s to an exit code and a remedy', (answered, status, may_pass, code, remedy) => {
    const storage = { status, code: answered, request_id: 'tx-1', may_pass };
    const detail = `a.csv: HTTP ${status}, ${answered}`;
    const problem: Problem = { from: 'sdk', code: 'storage_refused', detail, attempts: 1, storage };
    const shown = reported(failureOf(problem));
    expect(shown.code).toBe(code);
    expect(shown.text).toContain(remedy);
    expect(shown.text).toMatch(/^ {2}request: tx-1$/m);
  });

  it('suggests --no-resume if the upload state cannot be written', () => {
    const problem: Problem = { from: 'sdk', code: 'unwritable_folder', detail: 'EACCES', attempts: 1 };
    const { code, text } = reported(failureOf(problem));
    expect([code, text]).toEqual([1, expect.stringContaining('--no-resume')]);
  });

  it.each([
    ['compression_mismatch', '--no-compressed'],
    ['no_good_row', '`inlet errors`'],
    ['bad_rows', '`inlet errors --audience`'],
    ['invalid_file_path', 's3://'],
  ])('mentions command-line options in the remedy for %s', (code, words) => {
    expect(remedyOf(code)).toContain(words);
    expect(remedyOf(code)).not.toMatch(/path_type|`compressed`|GET |`errors`/);
  });

  it("uses the service's remedy for a job error", () => {
    expect(remedyOf('storage_refused')).toContain('submit the import again');
    expect(remedyOf('storage_refused')).not.toContain('inlet login');
  });

  it('shows an error code that the SDK does not know', () => {
    const newer: Problem = { ...answer, code: 'unknown_code', type: 'urn:inlet:error:teapot', status: 418 };
    const { code, text } = reported(failureOf(newer));
    expect([code, text]).toEqual([1, expect.stringContaining('error: teapot: ')]);
  });

  it.each([
    [401, 3],
    [403, 3],
    [400, 2],
    [404, 1],
    [409, 1],
    [429, 4],
    [500, 4],
    [503, 4],
  ])('maps status %i to exit code %i', (status, code) => {
    expect(reported(failureOf({ ...answer, status })).code).toBe(code);
  });

  it('prints unexpected errors', () => {
    const { code, text } = reported(new Error('broken\x1b[2J'));
    expect([code, text]).toEqual([1, expect.stringContaining(String.raw`error: unexpected: broken\x1b[2J`)]);
  });

  it('prints the failure that an operator command reports for an error', () => {
    const failure = new CliFailure({ code: 'gone', detail: 'It is gone.', remedy: 'Look elsewhere.', exitCode: 4 });
    const converted = reported(new Error('x'), { toFailure: () => failure });
    expect(converted).toEqual({ code: 4, text: 'error: gone: It is gone.\n  remedy:  Look elsewhere.\n' });
    expect(reported(new Error('x'), { toFailure: () => null }).text).toContain('error: unexpected: x');
  });

  it('prints every failure as a problem document with --json', () => {
    const problem = (error: unknown): unknown => JSON.parse(reported(error, { isJson: true }).text);
    expect(problem(failureOf(answer))).toEqual({
      type: 'urn:inlet:error:invalid_request',
      title: 'Invalid request',
      status: 400,
      detail: 'One field is wrong.',
      code: 'invalid_request',
      request_id: 'r-1',
      errors: [{ pointer: '/key_type', detail: 'must be 0 or 1\x1b[2J' }],
      remedy: 'Correct the values listed above. Run `inlet <command> --help` for usage.',
      exit_code: 2,
    });
    expect(problem(new CommanderError(1, 'commander.unknownOption', "error: unknown option '--x'"))).toMatchObject({
      code: 'wrong_use',
      detail: "unknown option '--x'",
      exit_code: 2,
    });
    expect(problem(new Error('broken'))).toMatchObject({ code: 'unexpected', detail: 'broken', exit_code: 1 });
  });

  it('prints nothing for errors that commander has already printed', () => {
    expect(reported(new CommanderError(1, 'commander.unknownOption', 'x'))).toEqual({ code: 2, text: '' });
    expect(reported(new CommanderError(0, 'commander.helpDisplayed', 'x'))).toEqual({ code: 0, text: '' });
  });
});
