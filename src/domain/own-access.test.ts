import { describe, expect, it } from 'vitest';
import type { ApiKey } from './api-key.ts';
import { type Scope, scopes } from './caller.ts';
import {
  ownAccessBounds,
  requireGrantable,
  requireOtherManagingKey,
  requireRoom,
  toAttributeName,
} from './own-access.ts';

const now = new Date('2026-11-18T09:00:00Z');
const hours = (count: number): Date => new Date(now.getTime() + count * 3_600_000);
const key = (id: number, granted: readonly Scope[], expiresAt: Date | null = null): ApiKey => ({
  id,
  name: '',
  scopes: granted,
  createdAt: now,
  lastUsedAt: null,
  expiresAt,
  revokedAt: null,
  createdBy: null,
});

describe('the scopes of a new key', () => {
  it('can be any of the scopes that the caller has', () => {
    expect(() => requireGrantable({ scopes }, scopes)).not.toThrow();
    expect(() => requireGrantable({ scopes: ['keys:write'] }, ['keys:write'])).not.toThrow();
    expect(() => requireGrantable({ scopes: ['keys:write'] }, [])).not.toThrow();
  });

  it.each(scopes)('cannot include %s if the caller lacks it', (scope) => {
    const others = scopes.filter((one) => one !== scope);
    expect(() => requireGrantable({ scopes: others }, [scope])).toThrow(
      `scope_not_grantable: The caller lacks "${scope}"`,
    );
    expect(() => requireGrantable({ scopes: others }, scopes)).toThrow('scope_not_grantable');
  });
});

describe('revoking a key', () => {
  it('is allowed while another key can manage keys', () => {
    for (const other of [key(2, ['keys:write']), key(2, ['keys:write'], hours(169))])
      expect(() => requireOtherManagingKey([key(1, scopes), other], 1, now)).not.toThrow();
  });

  it('is allowed if the key cannot manage keys or is unknown', () => {
    expect(() => requireOtherManagingKey([key(1, scopes), key(2, ['audience:read'])], 2, now)).not.toThrow();
    expect(() => requireOtherManagingKey([key(1, scopes)], 3, now)).not.toThrow();
  });

  it.each([
    ['there is no other key', []],
    ['the other keys cannot manage keys', [key(2, ['keys:read', 'marketplace:write'])]],
    ['the other keys end within the longest overlap', [key(2, scopes, hours(168))]],
  ])('is rejected for the last managing key if %s', (_when, others) => {
    expect(() => requireOtherManagingKey([key(1, scopes), ...others], 1, now)).toThrow('last_managing_key');
  });
});

it('accepts rows until a table has reached its maximum', () => {
  requireRoom('apiKeys', ownAccessBounds.apiKeys - 1);
  expect(() => requireRoom('apiKeys', ownAccessBounds.apiKeys)).toThrow(
    'quota_exceeded: A partner can have 1000 API keys',
  );
});

describe('the name of an attribute', () => {
  it('is trimmed and counts an emoji as one character', () => {
    expect(toAttributeName('  sports ')).toBe('sports');
    expect(toAttributeName('⚽'.repeat(100))).toHaveLength(100);
  });

  it.each(['', '   ', 'a'.repeat(101), 'a\nb', 'a\u0000', '\u202Esports', 'a\u2066b', '\uD800'])(
    'rejects %j',
    (name) => {
      expect(() => toAttributeName(name)).toThrow('invalid_request');
    },
  );
});
