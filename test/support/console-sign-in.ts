import { type SessionRecord, sessionRecordSchema } from '../../src/adapters/http/console/session-record.ts';
import { type DemoProvider, startDemoProvider } from '../../dev/demo-provider.ts';
import { rememberSecrets } from './known-secrets.ts';

// Imitates a browser. It has cookies and a CSRF token, and does not follow redirects.

export type SignedIn = Extract<SessionRecord, { readonly signed_in: true }>;

export type Browser = {
  /** Sends a request with the cookies. Unless the method is GET or HEAD, also sends the CSRF token. */
  readonly request: (path: string, init?: RequestInit) => Promise<Response>;
  readonly session: () => Promise<SessionRecord>;
  /** Sends a body to a sign-in route and keeps the session. */
  readonly exchange: (route: 'link' | 'api-key', body: object) => Promise<Response>;
  /** The value of the `Cookie` header. */
  readonly cookies: () => string;
  readonly setCookie: (name: string, value: string) => void;
  readonly csrfToken: () => string;
};

export function openBrowser(url: string): Browser {
  const jar = new Map<string, string>();
  let csrfToken = '';

  function keepCookies({ headers }: Response): void {
    for (const cookie of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/; Max-Age=0(?:;|$)/.test(cookie)) jar.delete(name);
      else jar.set(name, value);
      if (value !== '') rememberSecrets(value);
    }
  }
  const cookies = (): string => Array.from(jar, ([name, value]) => `${name}=${value}`).join('; ');

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const isSafe = ['GET', 'HEAD'].includes(init.method ?? 'GET');
    const response = await fetch(url + path, {
      redirect: 'manual',
      ...init,
      headers: {
        ...(jar.size === 0 ? {} : { cookie: cookies() }),
        ...(isSafe ? {} : { 'x-csrf-token': csrfToken }),
        ...(init.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...Object.fromEntries(new Headers(init.headers)),
      },
    });
    keepCookies(response);
    return response;
  }

  async function session(): Promise<SessionRecord> {
    const record = sessionRecordSchema.parse(await (await request('/console/auth/session')).json());
    csrfToken = record.signed_in ? record.csrf_token : '';
    return record;
  }

  return {
    request,
    session,
    exchange: async (route, body) => {
      const response = await request(`/console/auth/${route}`, { method: 'POST', body: JSON.stringify(body) });
      if (response.ok) await session();
      return response;
    },
    cookies,
    setCookie: (name, value) => void jar.set(name, value),
    csrfToken: () => csrfToken,
  };
}

/** Signs in with an API key and, optionally, a user token. */
export async function signInWithKey(
  url: string,
  apiKey: string,
  userToken?: string,
): Promise<Browser & { readonly signedIn: SignedIn }> {
  const browser = openBrowser(url);
  const body = { api_key: apiKey, ...(userToken === undefined ? {} : { user_token: userToken }) };
  return { ...browser, signedIn: await requireSignedIn(browser, await browser.exchange('api-key', body)) };
}

/** Signs in with the URL of a one-time link. */
export async function signInWithLink(url: string, link: string): Promise<Browser & { readonly signedIn: SignedIn }> {
  const browser = openBrowser(url);
  const token = new URL(link).hash.slice(1);
  return { ...browser, signedIn: await requireSignedIn(browser, await browser.exchange('link', { token })) };
}

export type SignInFlow = {
  /** The account to choose. Null cancels the sign-in. */
  readonly account: string | null;
  readonly returnTo?: string;
  /** Changes the request to the issuer. */
  readonly changeRequest?: (url: URL) => void;
  /** Changes the response of the issuer. */
  readonly changeResponse?: (url: URL) => void;
};

/**
 * Signs in at the provider that `startConsoleProvider` starts. Returns the address to which the console finally
 * redirects.
 */
export async function signInAtProvider(browser: Browser, flow: SignInFlow): Promise<string> {
  const callback = await beginSignIn(browser, flow);
  flow.changeResponse?.(callback);
  const done = await browser.request(callback.pathname + callback.search);
  await browser.session();
  return done.headers.get('location') ?? `HTTP ${done.status}`;
}

/** Starts a sign-in and returns the address to which the provider redirects the browser. */
export async function beginSignIn(
  browser: Pick<Browser, 'request'>,
  { account, returnTo, changeRequest }: SignInFlow,
): Promise<URL> {
  const query = returnTo === undefined ? '' : `?return_to=${encodeURIComponent(returnTo)}`;
  const begun = await browser.request(`/console/auth/sign-in${query}`);
  const authorization = new URL(begun.headers.get('location') ?? '', 'http://none.invalid');
  if (begun.status !== 302 || authorization.hostname === 'none.invalid')
    throw new Error(`the sign-in did not start: HTTP ${begun.status} ${authorization.href}`);
  changeRequest?.(authorization);
  const provider = openBrowser(authorization.origin);
  const chooser = await locationOf(await provider.request(authorization.pathname + authorization.search));
  const chosen = await provider.request(new URL(chooser, authorization).pathname, {
    method: 'POST',
    body: new URLSearchParams({ account: account ?? '' }),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const resumed = new URL(await locationOf(chosen), authorization);
  return new URL(await locationOf(await provider.request(resumed.pathname + resumed.search)));
}

async function locationOf(response: Response): Promise<string> {
  const location = response.headers.get('location');
  if (location === null) throw new Error(`no redirect: HTTP ${response.status} ${await response.text()}`);
  return location;
}

/** Starts the development environment's provider for an API whose port is not known yet. */
export function startConsoleProvider(consoleUrl = 'http://127.0.0.1'): Promise<DemoProvider> {
  const clientSecret = 'the-secret-of-the-console';
  rememberSecrets(clientSecret);
  return startDemoProvider({ port: 0, consoleUrl, clientSecret });
}

async function requireSignedIn(browser: Browser, response: Response): Promise<SignedIn> {
  const session = await browser.session();
  if (session.signed_in) return session;
  throw new Error(`the sign-in failed: HTTP ${response.status} ${await response.text()}`);
}
