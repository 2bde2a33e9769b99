/** Parses a `RateLimit` or `RateLimit-Policy` header into items by name, with numeric parameters. */
export function readRateLimit(header: string | null): Record<string, Record<string, number>> {
  return Object.fromEntries(
    (header ?? '').split(', ').map((item) => {
      const [, name = '', parameters = ''] = /^"([a-z-]+)"((?:;[a-z]+=\d+)+)$/.exec(item) ?? [];
      if (name === '') throw new Error(`"${header}" is not a list of quotas`);
      const numbers = parameters
        .slice(1)
        .split(';')
        .map((parameter): [string, number] => {
          const [key = '', value = ''] = parameter.split('=');
          return [key, Number(value)];
        });
      return [name, Object.fromEntries(numbers)];
    }),
  );
}
