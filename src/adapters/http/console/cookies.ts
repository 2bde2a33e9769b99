import type { FastifyReply } from 'fastify';

/** The names of the console's cookies. The prefix `__Host-` binds a cookie to this host and requires TLS. */
export type CookieNames = { readonly session: string; readonly signIn: string; readonly isSecure: boolean };

export function cookieNamesFor(consoleUrl: string): CookieNames {
  const isSecure = consoleUrl.startsWith('https:');
  const prefix = isSecure ? '__Host-' : '';
  return { session: `${prefix}inlet_session`, signIn: `${prefix}inlet_sign_in`, isSecure };
}

/** Returns the first cookie with this name. */
export function readCookie(header: string | undefined, name: string): string | null {
  for (const pair of header?.split(';') ?? []) {
    const [key = '', ...value] = pair.split('=');
    if (key.trim() === name) return value.join('=').trim();
  }
  return null;
}

type Cookie = { readonly name: string; readonly value: string; readonly maxAgeSeconds?: number };

/** Without a maximum age, the browser deletes the cookie when it closes. */
function formatCookie({ name, value, maxAgeSeconds }: Cookie, isSecure: boolean): string {
  const age = maxAgeSeconds === undefined ? [] : [`Max-Age=${maxAgeSeconds}`];
  const secure = isSecure ? ['Secure'] : [];
  return [`${name}=${value}`, 'Path=/', ...age, 'HttpOnly', 'SameSite=Lax', ...secure].join('; ');
}

export function setCookie(reply: FastifyReply, cookie: Cookie, { isSecure }: Pick<CookieNames, 'isSecure'>): void {
  reply.header('set-cookie', formatCookie(cookie, isSecure));
}

export function clearCookie(reply: FastifyReply, name: string, names: Pick<CookieNames, 'isSecure'>): void {
  setCookie(reply, { name, value: '', maxAgeSeconds: 0 }, names);
}
