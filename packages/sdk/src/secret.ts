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
