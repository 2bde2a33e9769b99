/** Returns the statement in the options of a ClickHouse call. */
export function queryOf(options: unknown): string {
  return typeof options === 'object' && options !== null && 'query' in options ? String(options.query) : '';
}

export type Around = (method: string, call: () => unknown, given: readonly unknown[]) => unknown;

/** Wraps every method of an object. */
export function wrapMethods<Target extends object>(target: Target, around: Around): Target {
  return new Proxy(target, {
    get: (inner, property) => {
      const value: unknown = Reflect.get(inner, property);
      if (typeof value !== 'function' || typeof property !== 'string') return value;
      return (...given: unknown[]) => around(property, () => Reflect.apply(value, inner, given) as unknown, given);
    },
  });
}
