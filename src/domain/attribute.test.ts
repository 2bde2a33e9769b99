import { describe, expect, it } from 'vitest';
import { resolveKeys } from './attribute.ts';
import { keyType } from './import-log.ts';

const attributes = [
  { id: 1001, name: 'Sport', foreignKeys: ['sport', 'sports'], isRetired: false },
  { id: 1002, name: 'News', foreignKeys: [], isRetired: false },
  { id: 1003, name: 'Golf', foreignKeys: ['1001'], isRetired: false },
];

describe('the keys of a job', () => {
  it('are the ids of all attributes when the file names ids', () => {
    expect(resolveKeys(attributes, keyType.attributeId)).toEqual([
      { key: '1001', attributeId: 1001 },
      { key: '1002', attributeId: 1002 },
      { key: '1003', attributeId: 1003 },
    ]);
  });

  it('are the foreign keys, also one that looks like an id, when the file names those', () => {
    expect(resolveKeys(attributes, keyType.foreignKey)).toEqual([
      { key: 'sport', attributeId: 1001 },
      { key: 'sports', attributeId: 1001 },
      { key: '1001', attributeId: 1003 },
    ]);
  });

  it.each(Object.values(keyType))('are none for a partner without attributes (key type %s)', (type) => {
    expect(resolveKeys([], type)).toEqual([]);
  });
});
