import { fetchKeySet } from '../../adapters/oidc/key-set.ts';
import { Failure } from '../../domain/failure.ts';
import type { Config } from '../config.ts';
import { issuerOf } from '../issuer.ts';
import type { Check } from './examine.ts';

/** Less than a check may take, so that it is told what took so long. */
const mostMilliseconds = 4_000;

/** Nothing where no issuer is configured. */
export function issuerChecks(config: Config): Check[] {
  const settings = issuerOf(config);
  if (!settings) return [];
  const { issuer, address, algorithms } = settings;
  return [
    {
      name: 'Issuer of user tokens',
      remedy:
        'Start the issuer, or mend INLET_OIDC_ISSUER, INLET_OIDC_NETWORKS and INLET_OIDC_ALGORITHMS. Its tokens are refused; those that `inlet user-token create` made are not.',
      look: async () => {
        const { keys } = (await fetchKeySet(address, mostMilliseconds).catch(throwCause)).jwks();
        const usable = keys.filter(({ kid, use, alg }) => {
          return kid !== undefined && (use ?? 'sig') === 'sig' && (alg === undefined || algorithms.includes(alg));
        });
        if (usable.length === 0) throw new Error(`${issuer} has no key for ${algorithms.join(', ')}`);
        return `${issuer} has ${usable.length} of ${keys.length} keys for ${algorithms.join(', ')}`;
      },
    },
  ];
}

/** The failure says that the issuer cannot be asked; its cause says why. */
function throwCause(error: unknown): never {
  throw error instanceof Failure && error.cause instanceof Error ? error.cause : error;
}
