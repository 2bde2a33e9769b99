import type { Problem } from '@inlet/sdk';
import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { paperTerminal } from '../../../../test/support/paper-terminal.ts';
import { failureOf, remedyOf } from './api-errors.ts';
import { report } from './report.ts';

function told(error: unknown, explain?: (error: unknown) => string): { text: string; code: number } {
  const { stream, written } = paperTerminal(false);
  const code = report(error, explain, stream);
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

describe('an error', () => {
  it('of the service shows code, cause, fields, remedy and request', () => {
    expect(told(failureOf(answer))).toEqual({
      code: 2,
      text: [
        'error: invalid_request: Invalid request',
        '  cause:   One field is wrong.',
        String.raw`  field:   /key_type must be 0 or 1\x1b[2J`,
        '  remedy:  Correct what is named above. `inlet <command> --help` shows how it is given.',
        '  request: r-1',
        '',
      ].join('\n'),
    });
  });

  it('of the way there shows how often it was tried', () => {
    const problem: Problem = { from: 'sdk', code: 'network_failed', detail: 'connect ECONNREFUSED', attempts: 5 };
    const { code, text } = told(failureOf(problem));
    expect(code).toBe(4);
    expect(text).toMatch(/^error: network_failed: connect ECONNREFUSED \(tried 5 times\)\n {2}remedy: {2}\S/);
  });

  it.each([
    ['SlowDown', 503, true, 4, 'run the same again later'],
    ['InternalError', 200, true, 4, 'run the same again later'],
    ['AccessDenied', 403, false, 3, '`inlet login`'],
    ['SignatureDoesNotMatch', 403, false, 3, '`inlet login`'],
    ['RequestTimeTooSkewed', 403, false, 3, 'the clock'],
    ['NoSuchBucket', 404, false, 1, '`inlet login`'],
    ['NoSuchUpload', 404, false, 1, 'run it again'],
    ['EntityTooLarge', 400, false, 1, 'documentation'],
  ])('of the storage, %s, ends as it is meant', (answered, status, may_pass, code, remedy) => {
    const storage = { status, code: answered, request_id: 'tx-1', may_pass };
    const detail = `a.csv: HTTP ${status}, ${answered}`;
    const problem: Problem = { from: 'sdk', code: 'storage_refused', detail, attempts: 1, storage };
    const shown = told(failureOf(problem));
    expect(shown.code).toBe(code);
    expect(shown.text).toContain(remedy);
    expect(shown.text).toMatch(/^ {2}request: tx-1$/m);
  });

  it('about the notes of uploads names the flag that does without', () => {
    const problem: Problem = { from: 'sdk', code: 'unwritable_folder', detail: 'EACCES', attempts: 1 };
    const { code, text } = told(failureOf(problem));
    expect([code, text]).toEqual([1, expect.stringContaining('--no-resume')]);
  });

  it.each([
    ['compression_mismatch', '--no-compressed'],
    ['no_good_row', '`inlet errors`'],
    ['bad_rows', '`inlet errors --audience`'],
    ['invalid_file_path', 's3://'],
  ])('%s has a remedy in the words of this command line', (code, words) => {
    expect(remedyOf(code)).toContain(words);
    expect(remedyOf(code)).not.toMatch(/path_type|`compressed`|GET |`errors`/);
  });

  it('of a job has the remedy of the service, also where a request to the storage has the same code', () => {
    expect(remedyOf('storage_refused')).toContain('submit the import again');
    expect(remedyOf('storage_refused')).not.toContain('inlet login');
  });

  it('with a code that is newer than the SDK is named as the service names it', () => {
    const newer: Problem = { ...answer, code: 'unknown_code', type: 'urn:inlet:error:teapot', status: 418 };
    const { code, text } = told(failureOf(newer));
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
  ])('with status %i ends with %i', (status, code) => {
    expect(told(failureOf({ ...answer, status })).code).toBe(code);
  });

  it('that nobody expected does not hide', () => {
    const { code, text } = told(new Error('broken\x1b[2J'));
    expect([code, text]).toEqual([1, expect.stringContaining(String.raw`error: unexpected: broken\x1b[2J`)]);
  });

  it('of a command that came from outside is explained by whoever brought it', () => {
    const explained = told(new Error('x'), () => 'not_there: gone\x1b[2J\nLook elsewhere.');
    expect(explained).toEqual({ code: 1, text: `${String.raw`not_there: gone\x1b[2J`}\nLook elsewhere.\n` });
  });

  it('of the parser was said already', () => {
    expect(told(new CommanderError(1, 'commander.unknownOption', 'x'))).toEqual({ code: 2, text: '' });
    expect(told(new CommanderError(0, 'commander.helpDisplayed', 'x'))).toEqual({ code: 0, text: '' });
  });
});
