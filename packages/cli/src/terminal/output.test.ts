import { describe, expect, it } from 'vitest';
import { fakeTerminal } from '../../../../test/support/fake-terminal.ts';
import { type Output, type OutputOptions, outputFor } from './output.ts';

function say(options: OutputOptions, isTTY = false, TERM = 'xterm'): { out: string; said: string; output: Output } {
  const [out, said] = [fakeTerminal(isTTY), fakeTerminal(isTTY)];
  const output = outputFor(options, { stdout: out.stream, stderr: said.stream }, { TERM });
  output.result({ rows: 5 }, () => 'five rows');
  output.note('a hint');
  return { out: out.written(), said: said.written(), output };
}

describe('outputFor', () => {
  it('prints text to standard output and hints to standard error', () => {
    expect(say({})).toMatchObject({ out: 'five rows\n', said: 'a hint\n' });
  });

  it('prints JSON to standard output with --json', () => {
    const { out, said } = say({ json: true });
    expect(JSON.parse(out)).toEqual({ rows: 5 });
    expect(said).toBe('a hint\n');
  });

  it('escapes control characters in hints', () => {
    const { output } = say({});
    const paper = fakeTerminal(false);
    outputFor({}, { stdout: output.stdout, stderr: paper.stream }, {}).note('import \x1b[2J1\nis queued');
    expect(paper.written()).toBe(`${String.raw`import \x1b[2J1\x0ais queued`}\n`);
  });

  it('prints only the result with --quiet', () => {
    expect(say({ quiet: true })).toMatchObject({ out: 'five rows\n', said: '' });
  });

  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ json: true }, true, false],
    [{ quiet: true }, true, false],
  ] as const)('with %j on a terminal (%j) redraws progress: %j', (options, isTTY, isLive) => {
    expect(say(options, isTTY).output.isLive).toBe(isLive);
  });

  it('does not redraw on a dumb terminal', () => {
    expect(say({}, true, 'dumb').output.isLive).toBe(false);
  });
});
