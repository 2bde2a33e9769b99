import { z } from 'zod';
import { Failure } from '../../../domain/failure.ts';
import type { ConsoleLinks, TokenIssuer } from '../../../ports/console.ts';
import { createConsoleLink as create } from '../../../usecases/access/create-console-link.ts';
import type { CompositionDeps } from '../../../usecases/report/get-composition.ts';
import { callerOf, scopeOf, userTokenIdOf } from '../authentication.ts';
import { invalidRequest } from '../documentation.ts';
import { defineRoute } from '../operation.ts';
import { pathId, timestamp } from '../schemas.ts';

const consoleLinkSchema = z
  .object({
    url: z.string().meta({
      description: 'Redirect the user to this address. It contains a secret and works once.',
    }),
    expires_at: timestamp,
  })
  .meta({ id: 'ConsoleLink' });

type Deps = {
  readonly composition: Pick<CompositionDeps, 'compositions'>;
  readonly console: { readonly url: string; readonly links: ConsoleLinks; readonly tokens: TokenIssuer } | null;
};

export const createConsoleLink = defineRoute({
  id: 'createConsoleLink',
  tag: 'audiences',
  method: 'POST',
  path: '/v2/firstparty/segments/:default_warehouse_segment_id/console-links',
  scope: 'audience:read',
  // A repeated request returns another link, because the first one is not stored.
  isRead: true,
  summary: 'Create a link to the report of an audience in the console',
  description:
    'Returns a link that opens the composition report of this audience in the console, without another sign-in. The link expires after 60 seconds and works once. Whoever opens it first can read the report and the state of this audience, and nothing else, until the session in the console ends. Send the user token of the customer, and redirect the customer to the link right away.',
  params: z.object({
    default_warehouse_segment_id: pathId("The audience's `default_warehouse_segment_id`.", 500001),
  }),
  /** Many clients send an empty object with every request. */
  body: z.strictObject({}).nullish().meta({ id: 'CreateConsoleLink' }),
  bodyExamples: { nothing: { summary: 'An empty body (optional)', value: {} } },
  response: {
    status: 201,
    description: 'The link.',
    schema: consoleLinkSchema,
    example: {
      url: 'https://inlet.example.com/console/open#3v9Zk0yq8oLxVd1mUu5w2bPz7tGJfNQ4hXcR6sYeKaE',
      expires_at: '2026-11-18T09:01:00.000Z',
    },
  },
  problems: {
    not_found: { detail: 'Segment 500001 does not exist.' },
    ...invalidRequest({ pointer: '/reason', detail: 'Unknown field "reason".' }),
    console_not_available: { detail: 'INLET_CONSOLE_URL is not set.' },
  },
  handler: (deps: Deps) => async (request, reply) => {
    if (!deps.console) throw new Failure('console_not_available', 'INLET_CONSOLE_URL is not set.');
    const { url, links, tokens } = deps.console;
    const { keyId } = callerOf(request);
    if (keyId === null) throw new Failure('scope_missing', 'Only an API key can create links.');
    const { compositions } = deps.composition;
    const segmentId = request.params.default_warehouse_segment_id;
    const owner = { scope: scopeOf(request), apiKeyId: keyId, userTokenId: userTokenIdOf(request) };
    const { token, expiresAt } = await create({ compositions, links, tokens }, owner, segmentId);
    reply.code(201);
    // The browser sends no fragment to the server, so the token is in no access log.
    return { url: `${url}/console/open#${token.reveal()}`, expires_at: expiresAt.toISOString() };
  },
});
