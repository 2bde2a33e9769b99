import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fakeTerminal } from '../../../../test/support/fake-terminal.ts';
import { type ProgressBar, Rate, live, progressBar, progressLine } from './progress-bar.ts';
import { textWidth } from './text.ts';

describe('live', () => {
  it('replaces the previously drawn lines and clears them at the end', () => {
    const { stream, written } = fakeTerminal(true);
    const screen = live(stream);
    screen.draw(['one', 'two']);
    screen.draw(['three']);
    screen.clear();
    screen.clear();
    expect(written()).toBe('one\ntwo\n\x1b[2A\x1b[0Jthree\n\x1b[1A\x1b[0J');
  });

  it('truncates lines so that the terminal never wraps or scrolls', () => {
    const { stream, written } = fakeTerminal(true, 10, 5);
    live(stream).draw(['a line that is too long', '1', '2', '3', '4']);
    expect(written()).toBe('a line t…\n1\n2\n');
  });
});

describe('Rate', () => {
  it('computes the rate over the last ten seconds', () => {
    let now = 0;
    const rate = new Rate(() => now);
    const at = (seconds: number, amount: number): number | null => {
      now = seconds * 1000;
      rate.note(amount);
      return rate.perSecond;
    };
    expect(at(0, 0)).toBeNull();
    expect(at(1, 100)).toBe(100);
    expect(at(2, 100)).toBe(50);
    // The first second is outside the window. The last sample before the window is kept.
    expect(at(14, 1300)).toBe(100);
    expect(at(15, 1300)).toBe((1200 / 13_000) * 1000);
  });

  it('lowers the rate while no bytes arrive', () => {
    let now = 0;
    const rate = new Rate(() => now);
    rate.note(0);
    now = 1000;
    rate.note(100);
    now = 5000;
    expect(rate.perSecond).toBe(20);
  });
});

function barOnPaper(now: () => number, isLive = true): { bar: ProgressBar; drawn: () => string[] } {
  const { stream, written } = fakeTerminal(isLive, 100);
  const drawn = (): string[] =>
    written()
      .split('\n')
      .filter((line) => line.includes('%'));
  return { bar: progressBar({ isLive, stderr: stream }, now), drawn };
}

describe('progressLine', () => {
  it('shows a bar, the percentage, bytes, rate, and time left', () => {
    const line = progressLine({ what: 'a.csv', done: 500_000_000, total: 2_000_000_000 }, 50_000_000, 99);
    expect(line).toBe(`a.csv  ${'█'.repeat(10)}${'░'.repeat(30)}   25 %  500 MB of 2.00 GB  50.0 MB/s  30 s left`);
  });

  it('omits unknown values and shows 100 % at the end', () => {
    expect(progressLine({ what: 'a', done: 0, total: 10 }, null, 99)).not.toMatch(/\/s|left/);
    expect(progressLine({ what: 'a', done: 5, total: 10 }, 0, 99)).not.toMatch(/left/);
    expect(progressLine({ what: 'a', done: 10, total: 10 }, 5, 99)).toMatch(/100 %/);
    expect(progressLine({ what: 'a', done: 0, total: 0 }, null, 99)).toMatch(/100 %/);
  });

  it('fits every terminal that has room for the name and the percentage', () => {
    const bytes = fc.nat({ max: 5_000_000_000 });
    fc.assert(
      fc.property(bytes, bytes, fc.option(bytes), fc.integer({ min: 16, max: 200 }), (done, total, rate, columns) => {
        const line = progressLine({ what: 'rows.csv', done: Math.min(done, total), total }, rate, columns);
        expect(textWidth(line)).toBeLessThanOrEqual(columns);
      }),
    );
  });
});

describe('progressBar', () => {
  it('draws at most ten times per second', () => {
    let now = 0;
    const { bar, drawn } = barOnPaper(() => now);
    for (now = 0; now < 3_000; now += 1) bar.show({ what: 'a.csv', done: now, total: 3_000 });
    bar.end();
    expect(drawn().length).toBeGreaterThan(25);
    expect(drawn().length).toBeLessThanOrEqual(30);
  });

  it('excludes skipped bytes from the rate', () => {
    let now = 0;
    const { bar, drawn } = barOnPaper(() => now);
    bar.show({ what: 'a.csv', done: 1_000_000_000, total: 2_000_000_000, skipped: 1_000_000_000 });
    for (now = 0; now <= 60_000; now += 500) {
      // One million bytes per second, then two million after 30 seconds.
      const sent = now * 1_000 + Math.max(0, now - 30_000) * 1_000;
      bar.show({ what: 'a.csv', done: 1_000_000_000 + sent, total: 2_000_000_000, skipped: 1_000_000_000 });
    }
    expect(drawn().at(-1)).toMatch(/2\.00 MB\/s {2}7 min/);
    bar.end();
  });

  it('draws nothing if the output is not a terminal', () => {
    const { bar, drawn } = barOnPaper(() => 0, false);
    bar.show({ what: 'a.csv', done: 1, total: 2 });
    bar.end();
    expect(drawn()).toEqual([]);
  });
});
