// Console addresses.

/** Every page of the console has a path that starts with this prefix. */
export const consolePath = '/console/';

/** Whether a URL can be the public origin. Plain HTTP is accepted only for a loopback address, for development. */
export function isConsoleUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  if (url.href !== `${url.origin}/`) return false;
  return (
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname))
  );
}

/** Maximum length of a return path. It travels in a cookie. */
const maxReturnLength = 1_000;

/**
 * Returns the page to show after the sign-in, or the start page if the text is not the path of a page. Otherwise, a
 * sign-in link could send the user to another site or start a second sign-in.
 */
export function toReturnPath(text: string | undefined): string {
  if (text === undefined || text.length > maxReturnLength || !/^[\x21-\x7e]+$/.test(text)) return consolePath;
  // Browsers treat a backslash as a slash.
  if (!text.startsWith(consolePath) || text.includes('\\')) return consolePath;
  const base = 'https://console.invalid';
  if (!URL.canParse(text, base)) return consolePath;
  const { origin, pathname, search, hash } = new URL(text, base);
  if (origin !== base || !pathname.startsWith(consolePath)) return consolePath;
  if (/^\/console\/(?:auth|sign-in)(?:\/|$)/.test(pathname)) return consolePath;
  return pathname + search + hash;
}
