import { describe, expect, it } from 'vitest';
import { parseDropPolicy } from './drop.ts';
import { findDropMistakes } from './drop-settings.ts';

describe('the DROP policy', () => {
  it('has defaults', () => {
    expect(parseDropPolicy('{}')).toEqual({
      policy: { exempt: [], shared: 'opted_out', other_lists: 'leave' },
      exemptHashes: [],
    });
  });

  it('accepts device IDs and hashes as exempt', () => {
    const hash = '250KY6lOgzYUB3EHrkbDCE2kMEZQE69SF38muhoDudI=';
    const policy = { exempt: ['A3F1C2D4-5678-90AB-CDEF-1234567890AB', hash], shared: 'deleted' };
    expect(parseDropPolicy(JSON.stringify(policy)).exemptHashes).toEqual([hash, hash]);
  });

  it.each([
    ['{', 'not valid JSON'],
    ['{"exempt": ["not-an-id"]}', 'Entry 1 of "exempt"'],
    ['{"shared": "ignored"}', '"shared"'],
    ['{"exemptions": []}', 'exemptions'],
  ])('is rejected with a description of the problem: %s', (text, problem) => {
    expect(() => parseDropPolicy(text)).toThrow(problem);
  });
});

describe('the DROP settings', () => {
  const config = {
    INLET_DROP_URL: 'https://api.drop.privacy.ca.gov',
    INLET_DROP_DIRECTORY: '/var/tmp',
    INLET_S3_BUCKET: 'a',
  };

  it('allow the API key to be sent only over TLS or to this machine', () => {
    expect(findDropMistakes(config)).toEqual([]);
    expect(findDropMistakes({ ...config, INLET_DROP_URL: 'http://127.0.0.1:8080' })).toEqual([]);
    expect(findDropMistakes({ ...config, INLET_DROP_URL: 'http://api.drop.privacy.ca.gov' })).toMatchObject([
      { name: 'INLET_DROP_URL' },
    ]);
  });

  it('do not allow archives in the bucket that partners read', () => {
    expect(findDropMistakes({ ...config, INLET_DROP_BUCKET: 'a' })).toMatchObject([{ name: 'INLET_DROP_BUCKET' }]);
  });
});
