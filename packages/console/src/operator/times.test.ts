import { expect, it } from 'vitest';
import { formatDuration } from '../format.ts';
import { formatAge } from './times.ts';

it.each([
  [-3, '0 s', '0 s'],
  [59, '59 s', '59 s'],
  [60, '1 min', '1 min'],
  [754, '12 min', '12 min 34 s'],
  [3_840, '1 h 4 min', '1 h 4 min'],
  [183_600, '2 d 3 h', '2 d 3 h'],
])('formats %i seconds as an age and as a duration', (seconds, age, duration) => {
  expect(formatAge(seconds)).toBe(age);
  expect(formatDuration(seconds)).toBe(duration);
});
