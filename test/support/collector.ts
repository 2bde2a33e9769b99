import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const valueSchema = z.looseObject({ stringValue: z.string().optional(), intValue: z.coerce.number().optional() });
const spanSchema = z.object({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  attributes: z.array(z.object({ key: z.string(), value: valueSchema })).default([]),
});
const postSchema = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })) })),
});

export type Collected = Omit<z.infer<typeof spanSchema>, 'attributes'> & {
  readonly attributes: Readonly<Record<string, string | number | undefined>>;
};

export type Collector = {
  readonly url: string;
  readonly spans: readonly Collected[];
  /** All request bodies, unchanged. */
  readonly text: () => string;
  readonly close: () => Promise<void>;
};

/** Receives spans as an OpenTelemetry collector does. */
export async function startCollector(): Promise<Collector> {
  const spans: Collected[] = [];
  const bodies: string[] = [];
  const take = async (request: IncomingMessage): Promise<void> => {
    const body = await text(request);
    bodies.push(`${request.method} ${request.url}`, body);
    const { resourceSpans } = postSchema.parse(JSON.parse(body));
    for (const span of resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))) {
      const attributes = span.attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue] as const);
      spans.push({ ...span, attributes: Object.fromEntries(attributes) });
    }
  };
  const server = createServer((request, response) => {
    take(request).then(
      () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'),
      (error: unknown) => response.writeHead(400).end(String(error)),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the collector has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    spans,
    text: () => bodies.join('\n'),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
