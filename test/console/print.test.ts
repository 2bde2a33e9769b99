import { describe, expect, it } from 'vitest';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { loadReport, newPartner } from './support/partner.ts';
import { readPdf } from './support/read-pdf.ts';
import { readReportTable } from './support/report-table.ts';
import { signInWithKey } from './support/sign-in.ts';

/** Also removes the characters that isolate the direction of a name. */
const withoutSpaces = (text: string): string => text.normalize('NFKC').replaceAll(/[\s\u2068\u2069]/g, '');

describe('a printed report', () => {
  it('fits on one A4 or Letter page, with the headline and the funnel and without controls', async () => {
    const partner = await newPartner();
    // The screen shows more entries than the printed page.
    const { segmentId } = await loadReport(partner, partner.audiences, 'Summer buyers', 60);
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await page.goto(`/console/segments/${segmentId}/composition`);
    await waitUntilLoaded(page);
    expect((await readReportTable(page)).length).toBeGreaterThan(20);
    const headline = await page.locator('.headline').innerText();
    expect(headline).toMatch(/^This audience over-indexes on/);
    const navigation = await page.getByRole('navigation').first().innerText();
    const buttons = ['Export CSV', 'Show more', 'Sign out'];
    for (const name of buttons) await page.getByRole('button', { name }).waitFor();
    for (const format of ['A4', 'Letter'] as const) {
      const { pages, text } = readPdf(await page.pdf({ format }));
      expect([format, pages]).toEqual([format, 1]);
      expect(text).toContain('Summerbuyers');
      expect(text).toContain(withoutSpaces(headline));
      for (const step of ['Uploaded1,000', 'Unique1,000', 'Matched800']) expect(text).toContain(step);
      expect(text).toContain('Thefirst20areprinted.');
      for (const control of [navigation, ...buttons]) expect(text).not.toContain(withoutSpaces(control));
    }
  });
});
