import { describe, expect, it } from 'vitest';
import { importKeys, resolveKeys } from './attribute.ts';
import { keyType } from './import-log.ts';

const attributes = [
  { id: 1001, name: 'Sport', foreignKeys: ['sport', 'sports'], isRetired: false },
  { id: 1002, name: 'News', foreignKeys: [], isRetired: false },
  { id: 1003, name: 'Golf', foreignKeys: ['1001'], isRetired: false },
];

describe('resolveKeys', () => {
  it('resolves the IDs of all attributes when the file uses IDs', () => {
    expect(resolveKeys(attributes, keyType.attributeId)).toEqual([
      { key: '1001', attributeId: 1001 },
      { key: '1002', attributeId: 1002 },
      { key: '1003', attributeId: 1003 },
    ]);
  });

  it('resolves foreign keys, including one that looks like an ID, when the file uses foreign keys', () => {
    expect(resolveKeys(attributes, keyType.foreignKey)).toEqual([
      { key: 'sport', attributeId: 1001 },
      { key: 'sports', attributeId: 1001 },
      { key: '1001', attributeId: 1003 },
    ]);
  });

  it.each(Object.values(keyType))('returns nothing for a partner without attributes (key type %s)', (type) => {
    expect(resolveKeys([], type)).toEqual([]);
  });
});

describe('importKeys', () => {
  it('trims keys, unless another key already has the trimmed form', () => {
    const spaced = { id: 1, name: 'a', foreignKeys: ['sport ', ' ', ' golf'], isRetired: false };
    const exact = { id: 2, name: 'b', foreignKeys: ['sport'], isRetired: false };
    const retired = { id: 3, name: 'c', foreignKeys: [' golf '], isRetired: true };
    expect(importKeys([retired, spaced, exact], keyType.foreignKey)).toEqual([
      { key: 'sport', attributeId: 2 },
      { key: 'golf', attributeId: 1 },
    ]);
  });

  it('marks the keys of retired attributes and trims keys', () => {
    const retired = { id: 1004, name: 'Chess', foreignKeys: ['chess'], isRetired: true };
    const spaced = { id: 1005, name: 'Chess', foreignKeys: [' old key '], isRetired: false };
    expect(importKeys([retired, spaced], keyType.foreignKey)).toEqual([
      { key: 'chess', attributeId: 0 },
      { key: 'old key', attributeId: 1005 },
    ]);
  });
});
