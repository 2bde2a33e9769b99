import { describe, expect, it } from 'vitest';
import { prioritySettings } from './load-stage.ts';

const mebibyte = 1024 * 1024;

describe('the CPU priority of a load', () => {
  it.each([
    ['an empty file', 0, {}],
    ['a file of 8 MiB', 8 * mebibyte, {}],
    ['a larger file', 8 * mebibyte + 1, { os_thread_priority: '19' }],
  ])('is lowered only for a large load: %s', (_name, bytes, settings) => {
    expect(prioritySettings(bytes)).toEqual(settings);
  });
});
