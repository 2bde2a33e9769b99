type Rule = {
  /** Of the setting, for the error. */
  readonly name: string;
  /** What whoever listens would learn. */
  readonly sent: string;
  readonly allowHttp: boolean;
};

/** Where keys or files are sent: https, or http on this machine; elsewhere only if that is wanted. No slash at the end. */
export function readAddress(given: string, { name, sent, allowHttp }: Rule): string {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError(`${name} must be an https address`);
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(`${name} must have no user, query or fragment`);
  }
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isHere && !allowHttp) {
    throw new TypeError(`${name} must be https, or ${sent} could be read on the way; allowHttp takes it as it is`);
  }
  return url.href.replace(/\/+$/, '');
}
