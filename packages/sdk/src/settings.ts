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

const placeholder = '[secret]';

/** A value that is sent and never shown: not by console.log, not in JSON, not in a problem. */
export class Secret {
  readonly #value: string;

  /** `name` is told when the value cannot stand in a header; the value is not. */
  constructor(value: string, name: string) {
    if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
      throw new TypeError(`${name} must be printable ASCII without spaces, and not empty`);
    }
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  /** The text without the secret in it, whoever put it there. */
  hideIn(text: string): string {
    return text.replaceAll(this.#value, placeholder);
  }

  toString(): string {
    return placeholder;
  }

  toJSON(): string {
    return placeholder;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return placeholder;
  }
}
