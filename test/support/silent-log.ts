import type { Log } from '../../src/ports/observability.ts';

export const silentLog: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
