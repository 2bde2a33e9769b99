import { describe, expect, it, vi } from 'vitest';
import { Failure } from '../../domain/failure.ts';
import { Secret } from '../../domain/secret.ts';
import type { Log } from '../../ports/observability.ts';
import { currentScope, fieldsOfScope } from './scope.ts';
import { failSpan, startSpans } from './spans.ts';
import { type Tracing, tracePort, traceWork } from './trace.ts';

describe('spans', () => {
  it('logs a warning if spans cannot be exported, and still shuts down', { timeout: 30_000 }, async () => {
    const warn = vi.fn<Log['warn']>();
    const log: Log = { info: () => undefined, warn, error: () => undefined };
    const spans = startSpans({ url: new Secret('http://user:hunter2@127.0.0.1:9'), service: 'test', log });
    spans.start('one', {}, null).end();
    await spans.close();
    expect(warn).toHaveBeenCalled();
    expect(JSON.stringify(warn.mock.calls)).not.toContain('hunter2');
  });
});

/** Records finished spans, in the order in which they end. */
function recorder(): { tracing: Tracing; ended: string[] } {
  const ended: string[] = [];
  const names = new Map<unknown, string>();
  const spans = startSpans({ url: new Secret('http://127.0.0.1:9'), service: 'test', log: silent });
  return {
    ended,
    tracing: {
      start: (name, attributes, parent) => {
        const span = spans.start(name, attributes, parent);
        names.set(span, name);
        const under = parent ? ` in ${names.get(parent)}` : '';
        vi.spyOn(span, 'end').mockImplementation(() => void ended.push(`${name}${under}`));
        return span;
      },
      fail: (span, error) => {
        failSpan(span, error);
        ended.push(`${names.get(span)} failed`);
      },
      close: () => Promise.resolve(),
    },
  };
}
const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

describe('traced work', () => {
  it('adds the IDs of the current and enclosing work to log lines until the work ends', async () => {
    const trace = traceWork(null);
    const seen = await trace.span('outer', { partnerId: 7 }, () =>
      trace.span('inner', { jobId: 5 }, () => Promise.resolve(fieldsOfScope())),
    );
    expect(seen).toEqual({ partnerId: 7, jobId: 5 });
    expect(currentScope()).toBeUndefined();
  });

  it('creates a span for the work and a child span per call, but no span for a call outside of work', async () => {
    const { tracing, ended } = recorder();
    const port = tracePort(tracing, 'stage', { drop: () => Promise.resolve('dropped') });
    expect(await port.drop()).toBe('dropped');
    expect(ended).toEqual([]);
    await traceWork(tracing).span('load batch', { batchId: 1 }, () => port.drop());
    expect(ended).toEqual(['stage.drop in load batch', 'load batch']);
  });

  it('marks the span of failed work as failed and rethrows the error', async () => {
    const { tracing, ended } = recorder();
    const failing = traceWork(tracing).span('lane finish', {}, () => Promise.reject(new Failure('no_files', 'x')));
    await expect(failing).rejects.toThrow('no_files');
    expect(ended).toEqual(['lane finish failed', 'lane finish']);
  });
});
