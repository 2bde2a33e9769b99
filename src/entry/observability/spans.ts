import {
  type Attributes,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  type Tracer,
  diag,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { Failure } from '../../domain/failure.ts';
import type { Secret } from '../../domain/secret.ts';
import type { Log } from '../../ports/observability.ts';

// Loaded only when traces are kept: it is 20 MB on the disk, and nobody else needs it.

/** While a process stops, so long for what is left to be sent. */
const sendWithinMs = 5_000;

export type Spans = {
  /** A new span under another, or a trace of its own. What a caller says of its own trace is not taken over. */
  readonly start: (name: string, attributes: Attributes, parent: Span | null) => Span;
  readonly close: () => Promise<void>;
};

export function startSpans(options: { url: Secret; service: string; log: Log }): Spans {
  logExportErrors(options.log);
  const exporter = new OTLPTraceExporter({
    url: `${options.url.reveal().replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: sendWithinMs,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': options.service, 'process.pid': process.pid }),
    sampler: new AlwaysOnSampler(),
    // It keeps 2,048 spans at the most and drops what comes then: a collector that is away costs spans, not memory.
    spanProcessors: [new BatchSpanProcessor({ exporter, scheduledDelayMillis: 1_000 })],
  });
  const tracer: Tracer = provider.getTracer('inlet');
  return {
    start: (name, attributes, parent) =>
      tracer.startSpan(name, { attributes }, parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT),
    close: async () => {
      try {
        await provider.shutdown();
      } catch (error) {
        // A process must be able to stop without its collector.
        options.log.warn({ err: error }, 'the last spans could not be sent');
      }
    },
  };
}

const sayEveryMs = 60_000;

/** Else nobody would know that no spans arrive. A collector that is away fails once a second; once a minute will do. */
function logExportErrors(log: Log): void {
  let saidAt = -sayEveryMs;
  const print = (message: string): void => {
    if (performance.now() - saidAt < sayEveryMs) return;
    saidAt = performance.now();
    log.warn({ message: message.slice(0, 200) }, 'spans could not be sent');
  };
  const nothing = (): void => undefined;
  diag.setLogger(
    { error: print, warn: print, info: nothing, debug: nothing, verbose: nothing },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** What went wrong by its code or kind. Its message may hold a path or an address, and stays in the log. */
export function failSpan(span: Span, error: unknown): void {
  const kind = error instanceof Failure ? error.code : error instanceof Error ? error.name : 'unknown';
  span.setAttribute('error.type', kind);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
