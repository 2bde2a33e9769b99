/** Signatures are made over RFC 3986 escapes, which are stricter than those of a browser. */
export function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
