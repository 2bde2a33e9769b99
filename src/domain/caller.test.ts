import { describe, expect, it } from 'vitest';
import { requireScope, scopes, toScopes, type Caller, type Scope } from './caller.ts';

const callerWith = (...given: Scope[]): Caller => ({
  partner: { id: 1, name: 'acme', prefix: 'acme/' },
  keyId: 7,
  scopes: given,
});

describe('a caller', () => {
  it.each(scopes)('a caller with only the scope %s cannot use any other scope', (scope) => {
    const caller = callerWith(scope);
    expect(() => requireScope(caller, scope)).not.toThrow();
    expect(() => requireScope(caller, 'any')).not.toThrow();
    for (const other of scopes.filter((one) => one !== scope)) {
      expect(() => requireScope(caller, other)).toThrow(`scope_missing: The API key lacks the scope "${other}".`);
    }
  });

  it('allows an operation that needs one of several scopes to callers with any of these scopes', () => {
    const needed = ['marketplace:write', 'audience:write'] as const;
    for (const scope of needed) expect(() => requireScope(callerWith(scope), needed)).not.toThrow();
    expect(() => requireScope(callerWith('audience:read'), needed)).toThrow(
      'scope_missing: The API key lacks the scope "marketplace:write" or "audience:write".',
    );
  });

  it('denies every scope to a caller without scopes', () => {
    for (const scope of scopes) expect(() => requireScope(callerWith(), scope)).toThrow(/scope_missing/);
  });
});

describe('the scopes of a key', () => {
  it('grants a key all scopes if none are specified', () => {
    expect(toScopes(null)).toEqual(scopes);
  });

  it('grants a key the specified scopes and ignores unknown ones', () => {
    expect(toScopes(['audience:read'])).toEqual(['audience:read']);
    expect(toScopes([])).toEqual([]);
    expect(toScopes(['audience:delete', 'admin', '*', 'toString', 'audience:write'])).toEqual(['audience:write']);
  });
});
