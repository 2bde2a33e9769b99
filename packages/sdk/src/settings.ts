type Rule = {
  /** Setting name, for the error message. */
  readonly name: string;
  /** The data that an eavesdropper could read over http, for the error message. */
  readonly sent: string;
  readonly allowHttp: boolean;
};

/**
 * Validates a URL and removes trailing slashes. The scheme must be https. http is accepted only for this machine or
 * with `allowHttp`.
 */
export function readAddress(given: string, { name, sent, allowHttp }: Rule): string {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) throw new TypeError(`${name} must be an https URL`);
  if (url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(`${name} must not contain a user, query, or fragment`);
  }
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isHere && !allowHttp) {
    throw new TypeError(
      `${name} must use https; otherwise, ${sent} would be sent unencrypted; set allowHttp to allow http`,
    );
  }
  return url.href.replace(/\/+$/, '');
}

const placeholder = '[secret]';

/** A value that is sent but never appears in console.log output, in JSON, or in a problem. */
export class Secret {
  readonly #value: string;

  /** The error for an invalid value contains `name` but not the value. */
  constructor(value: string, name: string) {
    if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
      throw new TypeError(`${name} must be printable ASCII without spaces and must not be empty`);
    }
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  /** Replaces the secret in a string with a placeholder. */
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
