/**
 * A value that must never be printed. Only `reveal()` gives it out; every way of turning it into text
 * (string, JSON, util.inspect, structured clone) gives a placeholder or nothing.
 */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [Symbol.toPrimitive](): string {
    return '[secret]';
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return '[secret]';
  }
}
