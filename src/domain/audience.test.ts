import { describe, expect, it } from 'vitest';
import { audienceStatus } from './audience.ts';

describe('audience status', () => {
  it.each([
    { files: [], status: 2 },
    { files: [0], status: 0 },
    { files: [1], status: 1 },
    { files: [2], status: 2 },
    { files: [3], status: 3 },
    { files: [0, 1], status: 1 },
    { files: [0, 2], status: 1 },
    { files: [0, 3], status: 1 },
    { files: [2, 3], status: 3 },
    { files: [1, 2, 3], status: 1 },
    { files: [0, 2, 3], status: 1 },
  ])('the audience status is $status for files with the statuses $files', ({ files, status }) => {
    const present = { 0: files.includes(0), 1: files.includes(1), 2: files.includes(2), 3: files.includes(3) };
    expect(audienceStatus(present)).toBe(status);
  });
});
