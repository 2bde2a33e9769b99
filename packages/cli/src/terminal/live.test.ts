import { describe, expect, it } from 'vitest';
import { paperTerminal } from '../../../../test/support/paper-terminal.ts';
import { live } from './live.ts';

describe('lines that are drawn in place', () => {
  it('take the place of those before, and go away', () => {
    const { stream, written } = paperTerminal(true);
    const screen = live(stream);
    screen.draw(['one', 'two']);
    screen.draw(['three']);
    screen.clear();
    screen.clear();
    expect(written()).toBe('one\ntwo\n\x1b[2A\x1b[0Jthree\n\x1b[1A\x1b[0J');
  });

  it('never wrap and never scroll: they could not be found again', () => {
    const { stream, written } = paperTerminal(true, 10, 5);
    live(stream).draw(['a line that is too long', '1', '2', '3', '4']);
    expect(written()).toBe('a line t…\n1\n2\n');
  });
});
