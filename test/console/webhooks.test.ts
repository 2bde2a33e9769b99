import type { Locator, Page } from 'playwright-core';
import { Webhook as StockVerifier } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { audienceClient } from '../acceptance/audience-client.ts';
import { addApiKey } from '../support/add-api-key.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type ReceivedEvent, type WebhookReceiver, startReceiver } from '../support/webhook-receiver.ts';
import { wireUp } from '../support/wired.ts';
import { expectAccessibleInThemes } from './support/expect-accessible.ts';
import { waitUntilLoaded } from './support/measure.ts';
import { openPage } from './support/open-page.ts';
import { type ConsolePartner, newPartner, sharedStores } from './support/partner.ts';
import { signInWithKey } from './support/sign-in.ts';

// Partners manage their webhooks in the console. The receiver is a real server, to which the workers send events.

describe('the webhooks page', () => {
  let receiver: WebhookReceiver;
  let partner: ConsolePartner;
  let path: string;

  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await receiver.close();
  });
  beforeEach(async () => {
    partner = await newPartner();
    path = `/partner-${partner.id}`;
    receiver.reply = () => ({ status: 204 });
  });

  const arrived = (): ReceivedEvent[] => receiver.received.filter((one) => one.path === path);
  const typesArrived = (): unknown[] => arrived().map(({ body }) => /"type":"([a-z.]+)"/.exec(body)?.[1]);
  const isSignedWith = (secret: string, { body, headers }: ReceivedEvent): boolean => {
    try {
      new StockVerifier(secret).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  };

  async function openAs(apiKey: string, address = '/console/webhooks'): Promise<Page> {
    const { page, context } = await openPage();
    await signInWithKey(context, apiKey);
    await page.goto(address);
    await waitUntilLoaded(page);
    return page;
  }

  /** Reads the secret that the open dialog shows, and closes the dialog. */
  async function takeSecret(page: Page): Promise<string> {
    await page.getByText('Copy it now.').waitFor();
    const secret = (await page.getByRole('dialog').locator('code').textContent()) ?? '';
    rememberSecrets(secret);
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.content()).not.toContain(secret);
    return secret;
  }

  /** Creates a webhook for all events through the page, and checks that the page shows it. */
  async function create(page: Page): Promise<string> {
    await page.getByRole('button', { name: 'Create a webhook' }).click();
    await page.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}${path}`);
    await page.getByRole('button', { name: 'Create the webhook' }).click();
    const secret = await takeSecret(page);
    await page.getByRole('heading', { name: 'Deliveries' }).waitFor();
    return secret;
  }

  const delivery = (page: Page, type: string): Locator =>
    page
      .getByRole('table', { name: /^Events that were sent/ })
      .getByRole('row')
      .filter({ hasText: type });
  const failImport = async (): Promise<void> => {
    await partner.api.waitForEnd(await partner.api.queue({ file_path: 'missing.csv', key_type: 1 }));
  };

  it('creates a webhook for selected events, shows its secret once, and shows a delivered event', async () => {
    const page = await openAs(partner.apiKey);
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
    await page.getByRole('button', { name: 'Create a webhook' }).click();
    await page.getByRole('textbox', { name: 'URL' }).fill('ftp://example.com/');
    await page.getByRole('textbox', { name: 'Description' }).fill('Production');
    await page.getByRole('checkbox', { name: /^All events/ }).uncheck();
    await page.getByRole('checkbox', { name: 'import.failed' }).check();
    await page.getByRole('button', { name: 'Create the webhook' }).click();
    await page.getByRole('alert').getByText('url must start with https://.').waitFor();
    await expectAccessibleInThemes(page, 'dialog for a new webhook');
    await page.getByRole('textbox', { name: 'URL' }).fill(`${receiver.url}${path}`);
    await page.getByRole('button', { name: 'Create the webhook' }).click();
    const secret = await takeSecret(page);

    await page.getByText('Healthy').waitFor();
    await page.getByRole('heading', { name: 'Nothing has been sent yet' }).waitFor();
    await failImport();
    const line = delivery(page, 'import.failed');
    await line.getByText('Delivered').waitFor();
    await line.getByText(/HTTP 204 in \d+ ms/).waitFor();
    expect(arrived().map((event) => isSignedWith(secret, event))).toEqual([true]);

    await line.getByRole('button', { name: /^Details/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Event 1' });
    await dialog.getByText('"type": "import.failed"').waitFor();
    await dialog.getByRole('cell', { name: 'HTTP 204' }).waitFor();
    await expectAccessibleInThemes(page, 'dialog with an event');
    await dialog.getByRole('link', { name: /^Import \d+$/ }).click();
    await page.getByRole('heading', { name: 'missing.csv', exact: true }).waitFor();

    await page.getByRole('link', { name: 'Webhooks' }).click();
    const listed = page.getByRole('table', { name: 'Webhooks' }).getByRole('row').filter({ hasText: 'Production' });
    await listed.getByText('Healthy').waitFor();
    await listed.getByText(/^event 1, /).waitFor();
  });

  it('shows why a receiver fails, and can send the event again once it works', async () => {
    receiver.reply = () => ({ status: 302, headers: { location: '/elsewhere' } });
    const page = await openAs(partner.apiKey);
    await create(page);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('Test event 1 will be sent to this webhook.').waitFor();
    const line = delivery(page, 'webhook.test');
    await line.getByText('HTTP 302: redirects are not followed').waitFor();
    await line.getByText('Waiting').waitFor();
    await page.getByText(/^Failing since /).waitFor();
    await page.getByText(/It will be disabled on .* if nothing is delivered until then/).waitFor();
    await expectAccessibleInThemes(page, 'failing webhook');

    receiver.reply = () => ({ status: 204 });
    await line.getByRole('button', { name: /^Send now/ }).click();
    await line.getByText('Delivered').waitFor();
    await page.getByText('Healthy').waitFor();
    await line.getByRole('button', { name: /^Send again/ }).click();
    await page.getByText('Event 1 will be sent again.').waitFor();
    await line.getByText('sent again', { exact: true }).waitFor();
    expect(new Set(arrived().map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('replays all events after a given number', async () => {
    const page = await openAs(partner.apiKey);
    await create(page);
    for (const sequence of [1, 2, 3]) {
      await page.getByRole('button', { name: 'Send a test event' }).click();
      await page.getByText(`Test event ${sequence} will be sent to this webhook.`).waitFor();
    }
    await expect.poll(() => arrived().length).toBe(3);
    await page.getByRole('button', { name: 'Send events again …' }).click();
    await expectAccessibleInThemes(page, 'dialog for a replay');
    await page.getByRole('textbox', { name: 'Number of the last event that you received' }).fill('1');
    await page.getByRole('button', { name: 'Send them again' }).click();
    await page.getByText('All events after event 1 will be sent again.').waitFor();
    await expect.poll(() => arrived().length).toBe(5);
    const again = arrived()
      .slice(3)
      .map(({ body }) => /"sequence":(\d+)/.exec(body)?.[1]);
    expect(new Set(again)).toEqual(new Set(['2', '3']));
  });

  it('rotates the secret, after which events are signed with both secrets', async () => {
    const page = await openAs(partner.apiKey);
    const first = await create(page);
    await page.getByRole('button', { name: 'Rotate the secret …' }).click();
    await expectAccessibleInThemes(page, 'dialog for rotating the secret');
    await page.getByRole('button', { name: 'Rotate the secret', exact: true }).click();
    const second = await takeSecret(page);
    await page.getByText('The old secret also signs until').waitFor();
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await expect.poll(() => arrived().length).toBe(1);
    expect(arrived().map((event) => [isSignedWith(first, event), isSignedWith(second, event)])).toEqual([[true, true]]);
  });

  it('disables a webhook, changes it, enables it so that it gets the events that it missed, and deletes it', async () => {
    const page = await openAs(partner.apiKey);
    await create(page);
    await page.getByRole('button', { name: 'Disable …' }).click();
    await expectAccessibleInThemes(page, 'dialog before a webhook is disabled');
    await page.getByRole('button', { name: 'Disable the webhook' }).click();
    await page.getByText('Disabled by your account').waitFor();
    expect(await page.getByRole('button', { name: /^Send/ }).count()).toBe(0);
    await failImport();

    await page.getByRole('button', { name: 'Change …' }).click();
    await page.getByRole('textbox', { name: 'Description' }).fill('Moved');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Moved').waitFor();
    await page.getByRole('button', { name: 'Enable …' }).click();
    await page.getByText(/It receives the events that it missed/).waitFor();
    await page.getByRole('button', { name: 'Enable the webhook' }).click();
    await delivery(page, 'import.failed').getByText('Delivered').waitFor();
    expect(typesArrived()).toContain('import.failed');

    await page.getByRole('button', { name: 'Delete …' }).click();
    await expectAccessibleInThemes(page, 'dialog before a webhook is deleted');
    await page.getByRole('button', { name: 'Delete the webhook' }).click();
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
  });

  it('shows no webhooks to a session without the scope', async () => {
    const deps = await wireUp(sharedStores());
    const { apiKey } = await addApiKey(deps, partner, { scopes: ['marketplace:read'] });
    await deps.close();
    const page = await openAs(apiKey);
    await page.getByText('You do not have access').waitFor();
    expect(await page.getByRole('button', { name: 'Create a webhook' }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0);
    await expectAccessibleInThemes(page, 'webhooks without the scope');
  });
});

describe('the events page', () => {
  it('lists events, newest first, adds new ones, and links to their records', async () => {
    const partner = await newPartner();
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey);
    await page.goto('/console/events');
    await page.getByRole('heading', { name: 'No events yet' }).waitFor();
    const id = await partner.api.queue({ file_path: 'missing.csv', key_type: 1 });
    const lines = page.getByRole('table', { name: 'Events, newest first' }).getByRole('row');
    await lines
      .filter({ hasText: 'Import failed' })
      .getByRole('link', { name: `Import ${id}` })
      .waitFor();
    await lines.filter({ hasText: 'no_files' }).waitFor();

    const { audienceId } = await partner.audiences.create('Empty', 'nothing/');
    await partner.audiences.settled(audienceId);
    await lines.filter({ hasText: 'All files of an audience ended' }).waitFor();
    const sequences = (await lines.getByRole('rowheader').allTextContents()).map((text) => /#(\d+)/.exec(text)?.[1]);
    expect(sequences).toEqual(sequences.toSorted((a, b) => Number(b) - Number(a)));

    await page.getByRole('button', { name: 'JSON of event 1', exact: true }).click();
    await page.getByRole('dialog', { name: 'Event 1' }).getByText('"code": "no_files"').waitFor();
    await expectAccessibleInThemes(page, 'dialog with an event');
    await page
      .getByRole('dialog')
      .getByRole('link', { name: `Import ${id}` })
      .click();
    await page.getByRole('heading', { name: 'missing.csv', exact: true }).waitFor();
  });

  it('shows a customer only the events of its audiences', async () => {
    const partner = await newPartner();
    const customer = await partner.createCustomer('Retail Co');
    const audiences = audienceClient(inject('console').url, partner.apiKey, customer.userToken);
    await partner.audiences.create('Of the partner', 'nothing/');
    const { audienceId } = await audiences.create('Of Retail', 'nothing/');
    await audiences.settled(audienceId);
    const { page, context } = await openPage();
    await signInWithKey(context, partner.apiKey, customer.userToken);
    await page.goto('/console/events');
    await page.getByRole('row').filter({ hasText: 'All files of an audience ended' }).waitFor();
    const records = await page.getByRole('main').getByRole('link').allTextContents();
    expect(new Set(records)).toEqual(new Set([`Audience ${audienceId}`]));
  });
});
