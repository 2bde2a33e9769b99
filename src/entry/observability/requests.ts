import type { Span } from '@opentelemetry/api';
import type { FastifyRequest } from 'fastify';
import type { Api } from '../../adapters/http/api.ts';
import { waitedMs } from '../../adapters/http/conditional-get.ts';
import { findPartnerOf } from '../../adapters/http/authentication.ts';
import { operationOf } from '../../adapters/http/request-log.ts';
import type { Meters } from './metrics.ts';
import { runInScope } from './scope.ts';
import { type Tracing, attributesOf } from './trace.ts';

/** Adds the request ID to log lines, measures each request, and starts a span if tracing is enabled. */
export function observeRequests(api: Api, meters: Meters | null, tracing: Tracing | null): void {
  const spans = new WeakMap<FastifyRequest, Span>();
  api.addHook('onRequest', (request, _reply, done) => {
    const ids = { requestId: request.id };
    const operation = operationOf(request);
    // Create no spans for health checks, which arrive every few seconds.
    const span = tracing && operation !== 'health' ? tracing.start(operation, attributesOf(ids), null) : null;
    if (span) spans.set(request, span);
    runInScope({ ids, span }, done);
  });
  api.addHook('onResponse', (request, reply, done) => {
    const operation = operationOf(request);
    const answeredInMs = Math.max(0, reply.elapsedTime - waitedMs(request));
    meters?.requests.observe({ operation, status: reply.statusCode }, answeredInMs / 1000);
    const span = spans.get(request);
    if (span) {
      const partner = findPartnerOf(request);
      if (partner) span.setAttribute('inlet.partnerId', partner.id);
      span.setAttribute('http.response.status_code', reply.statusCode);
      span.end();
    }
    done();
  });
}
