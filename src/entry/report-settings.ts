import { reportKey } from '../adapters/vault/keys.ts';
import type { ReportLimits } from '../domain/composition/budget.ts';
import { type Noise, cosSquaredNoise } from '../domain/composition/noise.ts';
import type { Protection } from '../domain/composition/protection.ts';
import { type Config, protectionOf } from './config.ts';

/** Increase it when the content of published reports changes, so that they are published again. */
const reportFormat = 3;

/** How reports are protected and limited. The API and the workers must have the same settings. */
export function publishingOf(config: Config): {
  readonly protection: Protection;
  readonly noise: Noise;
  readonly reportSettings: string;
  readonly reportLimits: ReportLimits;
} {
  const key = reportKey(config.INLET_REPORT_KEY, config.INLET_SEALING_KEYS);
  const protection = protectionOf(config);
  return {
    protection,
    noise: cosSquaredNoise(key.draw, protection.noise),
    // The pseudorandom number depends on the key but does not reveal it.
    reportSettings: JSON.stringify([reportFormat, protection, key.draw('settings of published reports')]),
    reportLimits: { perPartnerAndDay: config.INLET_REPORTS_PER_DAY, perCustomer: config.INLET_REPORTS_PER_CUSTOMER },
  };
}
