// Loaded with `--import` into a process whose clock must be wrong. INLET_TEST_SKEW_HOURS is the difference.

const systemNow = Date.now.bind(Date);
// oxlint-disable-next-line node/no-process-env -- set by the test
const skewMs = Number(process.env['INLET_TEST_SKEW_HOURS']) * 3_600_000;
const now = (): number => systemNow() + skewMs;

globalThis.Date = new Proxy(Date, {
  construct: (target, values: unknown[]): object => {
    const made: unknown = Reflect.construct(target, values.length === 0 ? [now()] : values);
    return made instanceof target ? made : new target(now());
  },
  get: (target, property): unknown => (property === 'now' ? now : Reflect.get(target, property)),
});
