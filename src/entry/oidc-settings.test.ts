import { describe, expect, it } from 'vitest';
import { configSchema } from './config.ts';
import { issuerOf } from './issuer.ts';

const others = {
  INLET_POSTGRES_URL: 'postgres://inlet:pw@db/inlet',
  INLET_CLICKHOUSE_URLS: 'http://inlet:pw@one:8123',
  INLET_CLICKHOUSE_CLUSTER: 'inlet',
  INLET_S3_BUCKET: 'uploads',
  INLET_S3_ACCESS_KEY_ID: 'OWNER',
  INLET_S3_SECRET_ACCESS_KEY: 'secret',
  INLET_SEALING_KEYS: `k1:${'ab'.repeat(32)}`,
};
const complete = {
  INLET_OIDC_ISSUER: 'https://login.example/',
  INLET_OIDC_AUDIENCE: 'https://inlet.example',
  INLET_OIDC_CUSTOMER_CLAIM: 'org',
  INLET_OIDC_PARTNER_CLAIM: 'partner',
};

function wrongWith(settings: Readonly<Record<string, string>>): string[] {
  const { error } = configSchema.safeParse({ ...others, ...settings });
  return (error?.issues ?? []).map(({ path }) => path.slice(0, 1).join());
}

describe('the issuer settings', () => {
  it('requires either all required issuer settings or none', () => {
    expect(issuerOf(configSchema.parse(others))).toBeNull();
    expect(wrongWith(complete)).toEqual([]);
    for (const name of Object.keys(complete)) {
      const rest = Object.fromEntries(Object.entries(complete).filter(([other]) => other !== name));
      expect(wrongWith(rest)).toEqual([name]);
    }
    expect(wrongWith({ INLET_OIDC_NETWORKS: '10.0.0.0/8' })).toEqual([
      'INLET_OIDC_ISSUER',
      'INLET_OIDC_AUDIENCE',
      'INLET_OIDC_CUSTOMER_CLAIM',
      'INLET_OIDC_PARTNER_CLAIM',
    ]);
  });

  it('requires either a partner claim or a fixed partner, but not both', () => {
    const { INLET_OIDC_PARTNER_CLAIM: _claim, ...rest } = complete;
    const config = configSchema.parse({ ...others, ...rest, INLET_OIDC_PARTNER: 'one' });
    expect(issuerOf(config)?.rules.partner).toEqual({ name: 'one' });
    expect(wrongWith({ ...complete, INLET_OIDC_PARTNER: 'one' })).toEqual(['INLET_OIDC_PARTNER_CLAIM']);
    expect(wrongWith({ ...rest, INLET_OIDC_PARTNER: 'No Name' })).toEqual(['INLET_OIDC_PARTNER']);
  });

  it('uses defaults for the optional issuer settings', () => {
    expect(issuerOf(configSchema.parse({ ...others, ...complete }))).toEqual({
      issuer: 'https://login.example/',
      address: { issuer: 'https://login.example/', networks: [] },
      algorithms: ['RS256', 'ES256'],
      keysMs: 300_000,
      rules: {
        type: 'access-token',
        audience: 'https://inlet.example',
        customerClaim: 'org',
        partner: { claim: 'partner' },
        mostSeconds: 7_200,
      },
    });
  });

  it.each([
    ['INLET_OIDC_ISSUER', ['http://login.example', 'login.example', 'https://a:b@login.example', 'https://x?y']],
    ['INLET_OIDC_ALGORITHMS', ['none', 'HS256', 'RS256,HS256', 'RS256,', 'rs256', 'dir']],
    ['INLET_OIDC_TOKEN_TYPE', ['JWT', 'refresh-token']],
    ['INLET_OIDC_TOKEN_SECONDS', ['0', '-1', '604801', 'long']],
    ['INLET_OIDC_KEYS_SECONDS', ['0', '86401']],
    ['INLET_OIDC_NETWORKS', ['all', '10.0.0.1/8']],
  ])('the setting %s rejects each of %j', (name, values) => {
    for (const value of values) expect(wrongWith({ ...complete, [name]: value }), value).toContain(name);
  });
});
