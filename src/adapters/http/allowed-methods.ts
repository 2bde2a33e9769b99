import type { Api } from './server.ts';

/** Tells the methods of a path. To be called before the routes are added: it notes them as they come. */
export function noteAllowedMethods(api: Api): (path: string) => readonly string[] {
  const routes: { readonly method: string | readonly string[]; readonly pattern: RegExp }[] = [];
  api.addHook('onRoute', ({ method, url }) => {
    routes.push({ method, pattern: new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]*')}$`) });
  });
  return (path) => [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ method }) => method))];
}
