/**
 * Whether an address may be that of an issuer of tokens: https, without what has no place in an issuer (OpenID Connect
 * Discovery 1.0). Without TLS only at a loopback address, for tests: whoever can change the answer can make tokens.
 */
export function isIssuerAddress(text: string): boolean {
  if (!URL.canParse(text) || /[?#\s]/.test(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/**
 * Whether the issuer may say that its keys are there. It may be another host, and have a query; but not one without TLS
 * for an issuer with it.
 */
export function isKeySetAddress(text: string, issuer: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname) && issuer.startsWith('http:'));
}

/** An address, not a name: `localhost` is what a resolver makes of it. */
function isLoopback(hostname: string): boolean {
  return hostname === '127.0.0.1' || hostname === '[::1]';
}
