import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startCollector, type Collected, type Collector } from '../support/collector.ts';
import { device } from '../support/device-id.ts';
import { startMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { waitUntil } from '../support/wait-until.ts';

describe('the traces of an import', () => {
  let collector: Collector;
  let marketplace: Marketplace;
  let jobId: number;

  const named = (name: string): Collected[] =>
    collector.spans.filter((span) => span.name === name && span.attributes['inlet.jobId'] === jobId);

  beforeAll(async () => {
    collector = await startCollector();
    marketplace = await startMarketplace('traces', { INLET_OTLP_URL: collector.url });
    const { partner, api } = marketplace;
    const sport = await partner.createAttribute('sport');
    await partner.upload('hidden-name.csv', `${device(1)},${sport}\n`);
    jobId = await api.queue({ file_path: 'hidden-name.csv', key_type: 0 });
    await api.waitForEnd(jobId);
    await waitUntil("the job's spans have arrived", () => Promise.resolve(named('lane finish').length > 0));
    // The remaining spans are sent when a process stops.
    await marketplace.service.stop();
  });
  afterAll(async () => {
    await marketplace.stop();
    await collector.close();
  });

  const within = (parent: Collected | undefined): string[] =>
    collector.spans.filter(({ parentSpanId }) => parentSpanId === parent?.spanId).map(({ name }) => name);

  it('the traces have a span for the request with its ID, its partner, and its calls', () => {
    const request = collector.spans.find(({ name }) => name === 'queueImport');
    expect(request?.attributes).toMatchObject({
      'inlet.partnerId': marketplace.partner.id,
      'http.response.status_code': 202,
    });
    expect(request?.attributes['inlet.requestId']).toMatch(/^[0-9a-f-]{36}$/);
    expect(request?.parentSpanId ?? '').toBe('');
    expect(within(request)).toEqual(['partners.findByKeyHash', 'requestWindows.take', 'importLogs.submitImport']);
  });

  it('traces have a span for each lane step, each load, and each outgoing call, with IDs as attributes', () => {
    const steps = ['lane prepare', 'lane publish', 'lane finish'].map((name) => named(name));
    expect(steps.map((spans) => spans.length)).toEqual([1, 1, 1]);
    const [load] = named('load batch');
    expect(load?.attributes['inlet.partnerId']).toBe(marketplace.partner.id);
    expect(load?.attributes['inlet.batchId']).toBeGreaterThan(0);
    expect(load?.attributes['inlet.loadId']).toBeGreaterThan(0);
    const inside = within(load);
    expect(inside).toEqual(
      expect.arrayContaining(['sharedBucket.open', 'stage.stage', 'stage.countRows', 'files.commit']),
    );
    expect(within(steps[1]?.[0])).toContain('warehouse.publish');
  });

  it('the traces contain no key, file name, or address', () => {
    const { partner, stores } = marketplace;
    const text = collector.text();
    expect(text).toContain('POST /v1/traces');
    const database = new URL(stores.environment['INLET_POSTGRES_URL'] ?? '');
    for (const hidden of [partner.apiKey, partner.prefix, 'hidden-name', database.password]) {
      expect(text).not.toContain(hidden);
    }
  });
});
