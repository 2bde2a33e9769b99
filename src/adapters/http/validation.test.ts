import { describe, expect, it } from 'vitest';
import type { Operation } from './operation.ts';
import { audienceRoutes, partnerRoutes } from './routes.ts';
import { validatorCompiler } from './validation.ts';

const routes: readonly Operation[] = [...partnerRoutes, ...audienceRoutes];

/** Validates a part of a request to an operation and returns the result. */
function validate(id: string, httpPart: 'params' | 'querystring' | 'body', data: unknown): unknown {
  const route = routes.find((one) => one.id === id);
  const schema = httpPart === 'querystring' ? route?.query : route?.[httpPart];
  if (!schema) throw new Error(`${id} has no ${httpPart}`);
  return validatorCompiler({ schema, httpPart, method: 'POST', url: '/' })(data);
}

const file = { file_path: 'a.csv', key_type: 1 };
const keys = { accessKeyId: 'a', secretAccessKey: 'b' };
const own = (credentials: unknown) => ({ ...file, path_type: 1, credentials });

describe('a validation message', () => {
  it.each([
    ['queueImport', { key_type: 1 }, '/file_path', 'file_path is required.'],
    ['queueImport', { ...file, file_path: 7 }, '/file_path', 'file_path must be a string.'],
    ['queueImport', { ...file, file_path: null }, '/file_path', 'file_path must be a string.'],
    [
      'queueImport',
      { ...file, file_path: 'a'.repeat(1201) },
      '/file_path',
      'file_path must have at most 1,200 characters.',
    ],
    [
      'queueImport',
      { file_path: 'a.csv' },
      '/key_type',
      'key_type is required: 0 (attribute IDs) or 1 (your foreign keys).',
    ],
    [
      'queueImport',
      { ...file, key_type: 2 },
      '/key_type',
      'key_type must be 0 (attribute IDs) or 1 (your foreign keys).',
    ],
    [
      'queueImport',
      { ...file, path_type: '1' },
      '/path_type',
      'path_type must be 0 (the shared bucket) or 1 (your own bucket).',
    ],
    ['queueImport', { ...file, compressed: 'yes' }, '/compressed', 'compressed must be true or false.'],
    ['queueImport', { ...file, mode: 'add' }, '/mode', 'mode must be "merge" or "replace".'],
    ['queueImport', { ...file, foo: 1 }, '/foo', 'Unknown field "foo".'],
    ['queueImport', { ...file, 'a/b~c': 1 }, '/a~1b~0c', 'Unknown field "a/b~c".'],
    ['queueImport', null, '', 'The request body is required.'],
    ['queueImport', [], '', 'The request body must be an object.'],
    ['queueImport', own('x'), '/credentials', 'credentials must be an object.'],
    ['queueImport', own(keys), '/credentials/region', 'credentials.region is required.'],
    ['queueImport', own({ ...keys, region: '' }), '/credentials/region', 'credentials.region must not be empty.'],
    ['queueImport', own({ ...keys, region: 'a', token: 'x' }), '/credentials/token', 'Unknown field "token".'],
    [
      'queueImport',
      own({ ...keys, region: 'a', accessKeyId: 'a b' }),
      '/credentials/accessKeyId',
      'credentials.accessKeyId must be printable ASCII without spaces.',
    ],
    ['deleteAttributeData', { key_type: 0, keys: [] }, '/keys', 'keys must not be empty.'],
    ['deleteAttributeData', { key_type: 0, keys: 'a' }, '/keys', 'keys must be an array.'],
    ['deleteAttributeData', { key_type: 0, keys: ['a', 5] }, '/keys/1', 'keys[1] must be a string.'],
    [
      'deleteAttributeData',
      { key_type: 0, keys: Array.from({ length: 1001 }, () => 'a') },
      '/keys',
      'keys must have at most 1,000 entries.',
    ],
    ['createAudience', { name: ' ', file_path: 'a' }, '/name', 'name must not be empty.'],
    ['createAudience', { name: 'a'.repeat(257), file_path: 'a' }, '/name', 'name must have at most 256 characters.'],
    ['createAudience', { name: 'a\u{0}', file_path: 'a' }, '/name', 'name must not contain control characters.'],
    ['clearAudience', { file_path: 'a' }, '/file_path', 'Unknown field "file_path".'],
  ])('names the invalid field and the rule: %s %j', (id, body, pointer, detail) => {
    expect(validate(id, 'body', body)).toMatchObject({
      error: { code: 'invalid_request', detail: 'The request is invalid; see errors.', fields: [{ pointer, detail }] },
    });
  });

  it.each([
    ['listImportLogs', { limit: 'ten' }, 'limit', 'limit must be a whole number from 1 to 100.'],
    ['listImportLogs', { limit: '0' }, 'limit', 'limit must be a whole number from 1 to 100.'],
    ['listImportLogs', { limit: '-1.5' }, 'limit', 'limit must be a whole number from 1 to 100.'],
    ['listAudiences', { limit: '1001' }, 'limit', 'limit must be a whole number from 1 to 1,000.'],
    ['listAudiences', { cursor: 'a'.repeat(129) }, 'cursor', 'cursor must have at most 128 characters.'],
    ['listAudiences', { foo: '1' }, 'foo', 'Unknown query parameter "foo".'],
    ['getComposition', { split: 'age' }, 'split', 'split must be "id_type", "country", or "event".'],
  ])('names the invalid query parameter and the violated rule: %s %j', (id, query, parameter, detail) => {
    expect(validate(id, 'querystring', query)).toMatchObject({
      error: { code: 'invalid_request', fields: [{ pointer: `/${parameter}`, parameter, detail }] },
    });
  });

  it.each([
    ['getImportLog', { import_log_id: 'abc' }, '"abc" is not a valid import log ID.'],
    ['getAudience', { audience_id: '0' }, '"0" is not a valid audience ID.'],
    ['getComposition', { default_warehouse_segment_id: '-1' }, '"-1" is not a valid default warehouse segment ID.'],
  ])('quotes an invalid path ID: %s %j', (id, params, detail) => {
    expect(validate(id, 'params', params)).toMatchObject({ error: { code: 'not_found', detail, fields: [] } });
  });

  it('lists every invalid field', () => {
    expect(validate('queueImport', 'body', { credentials: {}, a: 1, b: 2 })).toMatchObject({
      error: {
        fields: [
          { pointer: '/file_path', detail: 'file_path is required.' },
          { pointer: '/key_type', detail: 'key_type is required: 0 (attribute IDs) or 1 (your foreign keys).' },
          { pointer: '/credentials/region', detail: 'credentials.region is required.' },
          {
            pointer: '/credentials/accessKeyId',
            detail: 'credentials.accessKeyId is required, unless roleArn is set.',
          },
          {
            pointer: '/credentials/secretAccessKey',
            detail: 'credentials.secretAccessKey is required, unless roleArn is set.',
          },
          { pointer: '/a', detail: 'Unknown field "a".' },
          { pointer: '/b', detail: 'Unknown field "b".' },
        ],
      },
    });
  });

  it('rejects credentials that contain both access keys and a role', () => {
    expect(validate('queueImport', 'body', own({ ...keys, roleArn: 'arn:x', region: 'a' }))).toMatchObject({
      error: {
        fields: ['accessKeyId', 'secretAccessKey'].map((name) => ({
          pointer: `/credentials/${name}`,
          detail: `credentials.${name} must not be combined with roleArn.`,
        })),
      },
    });
  });

  it('accepts a valid request and fills in defaults', () => {
    expect(validate('queueImport', 'body', file)).toEqual({ value: { ...file, path_type: 0, mode: 'merge' } });
    expect(validate('listImportLogs', 'querystring', {})).toEqual({ value: { limit: 100 } });
    expect(validate('getImportLog', 'params', { import_log_id: '12' })).toEqual({ value: { import_log_id: 12 } });
    expect(validate('clearAudience', 'body', null)).toEqual({ value: undefined });
    expect(validate('retryImport', 'body', null)).toEqual({ value: {} });
  });
});
