import autocannon from 'autocannon';

export type HttpLoad = {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly connections: number;
  readonly requests: number;
  /** The status that every response must have. */
  readonly status: number;
};

export type HttpFigures = { readonly seconds: number; readonly p50: number; readonly p99: number };

/**
 * Sends the same request over all connections. Each connection waits for a response before it sends the next request.
 */
export async function sendLoad({ requests, status, ...load }: HttpLoad): Promise<HttpFigures> {
  const {
    errors,
    statusCodeStats = {},
    latency,
    start,
    finish,
  } = await autocannon({
    ...load,
    headers: { ...load.headers },
    amount: requests,
    timeout: 60,
    sampleInt: 10, // In milliseconds. A run ends only at a sample, and samples are one second apart by default.
  });
  if (errors > 0 || statusCodeStats[`${status}`]?.count !== requests) {
    throw new Error(
      `expected ${requests} responses with status ${status}, got ${JSON.stringify(statusCodeStats)} and ${errors} errors`,
    );
  }
  return { seconds: (finish.getTime() - start.getTime()) / 1000, p50: latency.p50, p99: latency.p99 };
}
