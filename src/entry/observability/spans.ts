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

// This file is imported only if tracing is enabled, because OpenTelemetry takes 20 MB on disk.

/** Timeout for sending the remaining spans during shutdown. */
const exportTimeoutMs = 5_000;

export type Spans = {
  /** Starts a child span or a new trace. Ignores the trace context that a caller sends. */
  readonly start: (name: string, attributes: Attributes, parent: Span | null) => Span;
  readonly close: () => Promise<void>;
};

export function startSpans(options: { url: Secret; service: string; log: Log }): Spans {
  logExportErrors(options.log);
  const exporter = new OTLPTraceExporter({
    url: `${options.url.reveal().replace(/\/$/, '')}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': options.service, 'process.pid': process.pid }),
    sampler: new AlwaysOnSampler(),
    // Buffers at most 2,048 spans and drops the rest. While the collector is unavailable, spans are lost, but memory
    // use does not grow.
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
        // Shutdown must not depend on the collector.
        options.log.warn({ err: error }, 'cannot export the remaining spans');
      }
    },
  };
}

const logEveryMs = 60_000;

/** Logs export errors at most once a minute. While the collector is unavailable, an export fails every second. */
function logExportErrors(log: Log): void {
  let loggedAt = -logEveryMs;
  const logError = (message: string): void => {
    if (performance.now() - loggedAt < logEveryMs) return;
    loggedAt = performance.now();
    log.warn({ reason: message.slice(0, 200) }, 'cannot export spans');
  };
  const nothing = (): void => undefined;
  diag.setLogger(
    { error: logError, warn: logError, info: nothing, debug: nothing, verbose: nothing },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** Records only the error's code or class. The message can contain a path or an address, so it is only logged. */
export function failSpan(span: Span, error: unknown): void {
  const kind = error instanceof Failure ? error.code : error instanceof Error ? error.name : 'unknown';
  span.setAttribute('error.type', kind);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
