import { describe, expect, it } from 'vitest';
import { type LinkTarget, type PartnerSession, scopes } from './caller.ts';
import {
  isAllowedForLink,
  isExtensionDue,
  isUserActivity,
  requireAllowedOperation,
  requireCsrfToken,
  requireOwnOrigin,
  scopesOfSession,
  toCaller,
} from './console-session.ts';

const target: LinkTarget = { segmentId: 500_001, audienceId: 7 };
const partner = { id: 1, name: 'acme', prefix: 'acme/' };
const expiresAt = new Date('2026-11-18T12:00:00Z');
const sessionWith = (role: 'partner' | 'link'): PartnerSession => ({
  id: 3,
  name: 'Dana Fox',
  expiresAt,
  partner,
  customer: null,
  scopes: ['audience:read'],
  windowId: -1,
  ...(role === 'link' ? { role, target } : { role, target: null }),
});

describe('a session from a one-time link', () => {
  it.each([
    ['getAudience', { audience_id: '7' }, {}],
    ['listAudienceFiles', { audience_id: '7' }, { limit: '10' }],
    ['followAudience', { audience_id: '7' }, {}],
    ['getComposition', { default_warehouse_segment_id: '500001' }, {}],
    ['getComposition', { default_warehouse_segment_id: '500001' }, { baseline_country: 'DE', split: 'event' }],
    ['getLimits', {}, {}],
  ])('allows %s with %j and %j', (id, params, query) => {
    expect(isAllowedForLink({ id, params, query }, target)).toBe(true);
  });

  it.each([
    ['getAudience', { audience_id: '8' }, {}],
    ['getAudience', { audience_id: '07' }, {}],
    ['getAudience', { audience_id: 7 }, {}],
    ['getAudience', {}, {}],
    ['followAudience', { audience_id: '500001' }, {}],
    ['getComposition', { default_warehouse_segment_id: '500002' }, {}],
    ['getComposition', { default_warehouse_segment_id: '7' }, {}],
    ['getComposition', { default_warehouse_segment_id: '500001' }, { baseline_segment_id: '500001' }],
    ['getComposition', { default_warehouse_segment_id: '500001' }, { baseline_segment_id: ['1', '2'] }],
    ['getOverlap', {}, {}],
    ['listAudiences', {}, {}],
    ['listEvents', {}, {}],
    ['createConsoleLink', { default_warehouse_segment_id: '500001' }, {}],
    ['clearAudience', { audience_id: '7' }, {}],
    ['unknown', {}, {}],
  ])('denies %s with %j and %j', (id, params, query) => {
    expect(isAllowedForLink({ id, params, query }, target)).toBe(false);
    const operation = { id, params, query };
    expect(() => requireAllowedOperation(sessionWith('link'), operation)).toThrow('scope_missing');
    expect(() => requireAllowedOperation(sessionWith('partner'), operation)).not.toThrow();
  });
});

describe('requireCsrfToken', () => {
  const isValid = (token: string): boolean => token === 'right';

  it.each(['GET', 'HEAD'])('requires no token for %s', (method) => {
    expect(() => requireCsrfToken(method, undefined, isValid)).not.toThrow();
    expect(() => requireCsrfToken(method, 'right', isValid)).not.toThrow();
  });

  it.each(['GET', 'HEAD'])('rejects the token of another session with %s', (method) => {
    expect(() => requireCsrfToken(method, 'wrong', isValid)).toThrow('csrf_token_invalid');
    expect(() => requireCsrfToken(method, '', isValid)).toThrow('csrf_token_invalid');
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'get', ''])("requires the session's token for %j", (method) => {
    expect(() => requireCsrfToken(method, undefined, isValid)).toThrow('csrf_token_invalid');
    expect(() => requireCsrfToken(method, '', isValid)).toThrow('csrf_token_invalid');
    expect(() => requireCsrfToken(method, 'wrong', isValid)).toThrow('csrf_token_invalid');
    expect(() => requireCsrfToken(method, 'right', isValid)).not.toThrow();
  });
});

describe('the access of a session', () => {
  it('has only scopes that both the role and the API key have', () => {
    expect(scopesOfSession('partner', scopes)).toEqual(scopes);
    expect(scopesOfSession('customer', scopes)).toEqual(['audience:read', 'audience:write']);
    expect(scopesOfSession('link', scopes)).toEqual(['audience:read']);
    expect(scopesOfSession('partner', ['audience:read'])).toEqual(['audience:read']);
    expect(scopesOfSession('link', ['marketplace:read'])).toEqual([]);
  });

  it('denies an operator access to the operations of partners', () => {
    expect(() => toCaller({ id: 1, name: 'Olga', expiresAt, role: 'operator' })).toThrow('scope_missing');
  });
});

describe('isUserActivity', () => {
  it('is true for a request that the user has caused', () => {
    expect(isUserActivity({})).toBe(true);
    expect(isUserActivity({ accept: 'application/json' })).toBe(true);
  });

  it.each([{ 'x-inlet-background': '1' }, { accept: 'text/event-stream, application/problem+json' }])(
    'is false for a request with %j',
    (headers) => expect(isUserActivity(headers)).toBe(false),
  );
});

describe('isExtensionDue', () => {
  const times = { idleSeconds: 1_000, absoluteSeconds: 10_000 };
  const at = (seconds: number): Date => new Date(seconds * 1000);

  it('extends a session after a tenth of the idle time', () => {
    expect(isExtensionDue(at(1_000), at(10_000), times, at(0))).toBe(false);
    expect(isExtensionDue(at(1_000), at(10_000), times, at(100))).toBe(false);
    expect(isExtensionDue(at(1_000), at(10_000), times, at(101))).toBe(true);
  });

  it('does not extend a session beyond its end', () => {
    expect(isExtensionDue(at(10_000), at(10_000), times, at(9_900))).toBe(false);
  });
});

describe('requireOwnOrigin', () => {
  it.each(['same-origin', 'none', undefined])('accepts a request from %s', (site) => {
    expect(() => requireOwnOrigin(site)).not.toThrow();
  });

  it.each(['cross-site', 'same-site'])('rejects a request from %s', (site) => {
    expect(() => requireOwnOrigin(site)).toThrow('Another site started the request');
  });
});
