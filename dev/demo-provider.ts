import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import OpenIdProvider, { interactionPolicy } from 'oidc-provider';
import { newSigningKey } from './signing-key.ts';

// A real OpenID provider on the loopback address for console sign-ins. A page lists the accounts, which have no
// passwords.

export type DemoAccount = {
  readonly id: string;
  readonly name: string;
  readonly claims: Readonly<Record<string, string | readonly string[]>>;
};

export type DemoProvider = {
  readonly issuer: string;
  /** The api's settings for this provider. */
  readonly settings: Readonly<Record<string, string>>;
  /** Replaces the accounts. */
  readonly setAccounts: (accounts: readonly DemoAccount[]) => void;
  readonly close: () => Promise<void>;
};

const clientId = 'inlet-console';
const interactionPath = /^\/interaction\/([\w-]+)$/;
const claimNames = ['name', 'inlet_role', 'inlet_partner', 'inlet_customer'];

/** `port` 0 selects a free port. */
export async function startDemoProvider({
  port,
  consoleUrl,
  clientSecret,
}: {
  readonly port: number;
  readonly consoleUrl: string;
  readonly clientSecret: string;
}): Promise<DemoProvider> {
  let accounts: readonly DemoAccount[] = [];
  let answer: (request: IncomingMessage, response: ServerResponse) => Promise<void> = async () => undefined;
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(error instanceof Error ? error.message : 'error');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the provider has no port');
  const issuer = `http://127.0.0.1:${address.port}`;
  const provider = await providerOf({ issuer, consoleUrl, clientSecret, accountsOf: () => accounts });
  const callback = provider.callback();
  answer = async (request, response) => {
    if (!interactionPath.test(request.url ?? '')) return callback(request, response);
    if (request.method !== 'POST') {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(chooser(accounts));
      return undefined;
    }
    const accountId = new URLSearchParams(await text(request)).get('account') ?? '';
    const result = accounts.some(({ id }) => id === accountId)
      ? { login: { accountId } }
      : { error: 'access_denied', error_description: 'The user canceled the sign-in.' };
    return provider.interactionFinished(request, response, result);
  };
  return {
    issuer,
    settings: {
      INLET_CONSOLE_URL: consoleUrl,
      INLET_CONSOLE_OIDC_ISSUER: issuer,
      INLET_CONSOLE_OIDC_CLIENT_ID: clientId,
      INLET_CONSOLE_OIDC_CLIENT_SECRET: clientSecret,
      INLET_CONSOLE_OIDC_NETWORKS: '127.0.0.1/32',
    },
    setAccounts: (given) => {
      accounts = given;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type ProviderSettings = {
  readonly issuer: string;
  readonly consoleUrl: string;
  readonly clientSecret: string;
  readonly accountsOf: () => readonly DemoAccount[];
};

async function providerOf(settings: ProviderSettings): Promise<OpenIdProvider> {
  const { issuer, consoleUrl, clientSecret, accountsOf } = settings;
  const policy = interactionPolicy.base();
  // The page is shown at every sign-in, so that a developer can switch accounts.
  policy
    .get('login')
    ?.checks.add(
      new interactionPolicy.Check('choose_account', 'choose an account', (context) =>
        context.oidc.result?.login ? interactionPolicy.Check.NO_NEED_TO_PROMPT : interactionPolicy.Check.REQUEST_PROMPT,
      ),
    );
  const provider = new OpenIdProvider(issuer, {
    jwks: { keys: [await newSigningKey()] },
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${consoleUrl}/console/auth/callback`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    cookies: { keys: [clientSecret] },
    pkce: { required: () => true },
    // Most providers include custom claims in the ID token.
    conformIdTokenClaims: false,
    claims: { openid: ['sub'], profile: claimNames, email: ['email'] },
    features: { devInteractions: { enabled: false } },
    interactions: { policy, url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => {
      const account = accountsOf().find((one) => one.id === id);
      if (!account) return undefined;
      return { accountId: id, claims: () => ({ sub: id, name: account.name, ...account.claims }) };
    },
    loadExistingGrant: async ({ oidc }) => {
      const { client, session } = oidc;
      if (!client || session?.accountId === undefined) return undefined;
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  });
  return provider;
}

function chooser(accounts: readonly DemoAccount[]): string {
  const buttons = accounts.map(
    ({ id, name, claims }) =>
      `<p><button name="account" value="${escaped(id)}">${escaped(name)} (${escaped(String(claims['inlet_role']))})</button></p>`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Choose an account</title></head>
<body style="font: 16px system-ui; max-width: 30rem; margin: 4rem auto; padding: 0 1rem">
<h1>Choose an account</h1>
<form method="post">${buttons.join('')}<p><button name="account" value="">Cancel</button></p></form>
</body>
</html>`;
}

function escaped(plain: string): string {
  return plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
