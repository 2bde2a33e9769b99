import { reportKey } from '../adapters/vault/keys.ts';
import type { ReportLimits } from '../domain/composition/budget.ts';
import { type Noise, cosSquaredNoise } from '../domain/composition/noise.ts';
import type { Protection } from '../domain/composition/protection.ts';
import { type Config, protectionOf } from './config.ts';

/**
 * Increase the corresponding number when the content of published reports or overlaps changes, so that they are
 * published again.
 */
const reportFormat = 4;
const overlapFormat = 2;

/** How reports are protected and limited. The API and the workers must have the same settings. */
export function publishingOf(config: Config): {
  readonly protection: Protection;
  readonly noise: Noise;
  readonly reportSettings: string;
  readonly overlapSettings: string;
  readonly reportLimits: ReportLimits;
} {
  const key = reportKey(config.INLET_REPORT_KEY, config.INLET_SEALING_KEYS);
  const protection = protectionOf(config);
  // The pseudorandom number depends on the key but does not reveal it.
  const settingsOf = (format: number): string =>
    JSON.stringify([format, protection, key.draw('settings of published reports')]);
  return {
    protection,
    noise: cosSquaredNoise(key.draw, protection.noise),
    reportSettings: settingsOf(reportFormat),
    overlapSettings: settingsOf(overlapFormat),
    reportLimits: { perPartnerAndDay: config.INLET_REPORTS_PER_DAY, perCustomer: config.INLET_REPORTS_PER_CUSTOMER },
  };
}
