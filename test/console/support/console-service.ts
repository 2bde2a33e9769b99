import { pickPort } from '../../../stack/ports.ts';
import { type TestStores, createStores } from '../../support/stores.ts';

export type ConsoleStores = { readonly url: string; readonly stores: TestStores };

/** Creates stores for a service with the console. The API's address is known before the API starts. */
export async function createConsoleStores(settings: Readonly<Record<string, string>> = {}): Promise<ConsoleStores> {
  const port = await pickPort([]);
  const url = `http://127.0.0.1:${port}`;
  const stores = await createStores('two');
  const environment = {
    ...stores.environment,
    INLET_API_PORT: String(port),
    INLET_CONSOLE_URL: url,
    INLET_CONSOLE_API_KEY_SIGN_IN: 'true',
    ...settings,
  };
  return { url, stores: { ...stores, environment } };
}
