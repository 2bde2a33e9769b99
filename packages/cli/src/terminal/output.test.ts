import { describe, expect, it } from 'vitest';
import { fakeTerminal } from '../../../../test/support/fake-terminal.ts';
import { type Output, type OutputOptions, outputFor } from './output.ts';

function outputOf(
  options: OutputOptions,
  isTTY = false,
  TERM = 'xterm',
): { out: string; stderr: string; output: Output } {
  const [out, stderr] = [fakeTerminal(isTTY), fakeTerminal(isTTY)];
  const output = outputFor(options, { stdout: out.stream, stderr: stderr.stream }, { TERM });
  output.result({ rows: 5 }, () => 'five rows');
  output.note('a hint');
  return { out: out.written(), stderr: stderr.written(), output };
}

describe('outputFor', () => {
  it('prints text to standard output and hints to standard error', () => {
    expect(outputOf({})).toMatchObject({ out: 'five rows\n', stderr: 'a hint\n' });
  });

  it('prints JSON to standard output with --json', () => {
    const { out, stderr } = outputOf({ json: true });
    expect(JSON.parse(out)).toEqual({ rows: 5 });
    expect(stderr).toBe('a hint\n');
  });

  it('escapes control characters in hints', () => {
    const { output } = outputOf({});
    const paper = fakeTerminal(false);
    outputFor({}, { stdout: output.stdout, stderr: paper.stream }, {}).note('import \x1b[2J1\nis queued');
    expect(paper.written()).toBe(`${String.raw`import \x1b[2J1\x0ais queued`}\n`);
  });

  it('prints only the result with --quiet', () => {
    expect(outputOf({ quiet: true })).toMatchObject({ out: 'five rows\n', stderr: '' });
  });

  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ json: true }, true, false],
    [{ quiet: true }, true, false],
  ] as const)('with the options %j (terminal: %j), redrawing progress is enabled: %j', (options, isTTY, isLive) => {
    expect(outputOf(options, isTTY).output.isLive).toBe(isLive);
  });

  it('does not redraw progress on a dumb terminal', () => {
    expect(outputOf({}, true, 'dumb').output.isLive).toBe(false);
  });
});
