import type { Api } from './server.ts';

/** Many clients announce JSON with every request; for one that has no body fields, nothing is a body too. */
export function takeEmptyBodies(api: Api): void {
  const parse = api.getDefaultJsonParser('error', 'error');
  api.removeContentTypeParser('application/json');
  api.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, null);
    else void parse(request, body, done);
  });
}
