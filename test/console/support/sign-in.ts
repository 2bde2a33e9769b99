import type { BrowserContext } from 'playwright-core';
import { inject } from 'vitest';
import { openBrowser, signInAtProvider } from '../../support/console-sign-in.ts';

/** Signs the browser in with an API key, which is faster than the provider. */
export async function signInWithKey(context: BrowserContext, apiKey: string, userToken?: string): Promise<void> {
  const data = { api_key: apiKey, ...(userToken === undefined ? {} : { user_token: userToken }) };
  const answer = await context.request.post('/console/auth/api-key', { data });
  if (!answer.ok()) throw new Error(`the sign-in failed: HTTP ${answer.status()} ${await answer.text()}`);
}

/** Signs the browser in at the OpenID provider, without showing its pages. */
export async function signInAsOperator(context: BrowserContext): Promise<void> {
  const { url } = inject('console');
  const withoutWindow = openBrowser(url);
  await signInAtProvider(withoutWindow, { account: 'operator' });
  const [name = '', value = ''] = withoutWindow.cookies().split('=');
  await context.addCookies([{ name, value, url }]);
}
