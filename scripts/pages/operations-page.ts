import type { Operation } from '../../src/adapters/http/operation.ts';
import { audienceRoutes, operatorRoutes, partnerRoutes, publicRoutes } from '../../src/adapters/http/routes.ts';
import { generatedNotice } from './generated-notice.ts';

/** Generates docs/operations.md from the routes. */
export function operationsPage(): string {
  return [
    '# Operations',
    '',
    generatedNotice('src/adapters/http/routes.ts'),
    '',
    'This page lists every operation of the API. The API reference at `/docs` on a running API describes each field, example,',
    'and error code. A paged operation accepts `limit` and `cursor` and returns a `Link` header to the next page.',
    '',
    '## Imports',
    '',
    ...tableOf(partnerRoutes),
    '',
    '## Audiences and limits',
    '',
    'With the header `x-user-token`, these operations act for the customer of the [user token](user-tokens.md). Without it, they act',
    'for the partner itself.',
    '',
    ...tableOf(audienceRoutes),
    '',
    'The same operations at `/v1/firstparty/audience` are [deprecated](versioning.md).',
    '',
    '## Operators',
    '',
    'These operations read the data of all partners. They require an operator session. No API key can call them. See',
    '[the operator API](operators/operator-api.md).',
    '',
    ...tableOf(operatorRoutes),
    '',
    '## Health',
    '',
    ...tableOf(publicRoutes),
    '',
  ].join('\n');
}

type Listed = Pick<Operation, 'method' | 'path' | 'scope' | 'summary' | 'response'>;

function tableOf(routes: readonly Listed[]): string[] {
  const rows = routes.map(({ method, path, scope, summary, response }) => {
    const needed =
      scope === undefined
        ? 'no key'
        : scope === 'any'
          ? 'any key'
          : [scope]
              .flat()
              .map((one) => `\`${one}\``)
              .join(' or ');
    return `| \`${method} ${path}\` | ${summary} | ${needed} | ${response.status}${response.isPaged ? ', paged' : ''} |`;
  });
  return ['| Operation | What it does | Required scope | Response |', '|---|---|---|---|', ...rows];
}
