import { describe, expect, it } from 'vitest';
import { readAudit } from './read-audit.ts';

// The shapes of npm 10.9 and 11.19, which are the same here.

const none = { info: 0, low: 0, moderate: 0, high: 0, critical: 0, total: 0 };
const advisory = (severity: string): object => ({
  source: 1,
  name: 'one',
  dependency: 'one',
  title: 'It gives too much away',
  url: 'https://advisories.example/1',
  severity,
  cwe: ['CWE-1'],
  cvss: { score: 7.5, vectorString: null },
  range: '<2.0.0',
});
const vulnerability = (name: string, severity: string, via: readonly unknown[]): object => ({
  name,
  severity,
  isDirect: true,
  via,
  effects: [],
  range: '<2.0.0',
  nodes: [`node_modules/${name}`],
  fixAvailable: { name, version: '2.0.0', isSemVerMajor: true },
});
const report = (vulnerabilities: object, counts: object = {}): string =>
  JSON.stringify({
    auditReportVersion: 2,
    vulnerabilities,
    metadata: {
      vulnerabilities: { ...none, ...counts },
      dependencies: { prod: 124, dev: 209, optional: 147, peer: 38, peerOptional: 0, total: 333 },
    },
  });
const refusal = (statusCode: number, body: unknown = ''): string =>
  JSON.stringify({
    message: `${statusCode} Refused - POST https://registry.example/-/npm/v1/security/advisories/bulk`,
    method: 'POST',
    uri: 'https://registry.example/-/npm/v1/security/advisories/bulk',
    headers: { allow: ['GET,HEAD'] },
    statusCode,
    body,
    error: { summary: '', detail: '' },
  });

describe('what npm says about known flaws', () => {
  it('is nothing when it found none', () => {
    expect(readAudit(report({}))).toEqual({ kind: 'asked', isGrave: false, findings: [] });
  });

  it.each(['info', 'low', 'moderate'])('is told and borne when it is %s', (severity) => {
    const one = vulnerability('one', severity, [advisory(severity)]);
    expect(readAudit(report({ one }, { [severity]: 1, total: 1 }))).toEqual({
      kind: 'asked',
      isGrave: false,
      findings: [`${severity}: one <2.0.0: It gives too much away (https://advisories.example/1)`],
    });
  });

  it.each(['high', 'critical', 'catastrophic'])('is grave when it is %s', (severity) => {
    const one = vulnerability('one', severity, [advisory(severity)]);
    expect(readAudit(report({ one }, { [severity]: 1 }))).toMatchObject({ kind: 'asked', isGrave: true });
    expect(readAudit(report({ one }))).toMatchObject({ isGrave: true });
    expect(readAudit(report({}, { [severity]: 1 }))).toMatchObject({ isGrave: true });
  });

  it('is grave when one of several is, also when it only brings a bad one along', () => {
    const vulnerabilities = {
      meek: vulnerability('meek', 'low', [advisory('low')]),
      carrier: vulnerability('carrier', 'high', ['bad', 'worse']),
    };
    expect(readAudit(report(vulnerabilities))).toMatchObject({
      isGrave: true,
      findings: [expect.stringMatching(/^low: meek/), 'high: carrier <2.0.0: through bad; through worse'],
    });
  });

  it.each([404, 405, 501])('is that it could not be asked when the registry answers %d', (status) => {
    expect(readAudit(refusal(status))).toEqual({ kind: 'unsupported', status });
    expect(readAudit(refusal(status, { error: 'no such thing' }))).toEqual({ kind: 'unsupported', status });
  });

  it.each([400, 401, 403, 429, 500, 503])('is a failure when the registry answers %d', (status) => {
    expect(readAudit(refusal(status))).toEqual({
      kind: 'failed',
      reason: `${status} Refused - POST https://registry.example/-/npm/v1/security/advisories/bulk`,
    });
  });

  it('is a failure when the registry cannot be reached', () => {
    const said = { message: 'request to https://registry.example failed', error: { summary: '', detail: '' } };
    expect(readAudit(JSON.stringify(said))).toEqual({ kind: 'failed', reason: said.message });
  });

  it('is a failure when there is no lock file', () => {
    const said = { error: { code: 'ENOLOCK', summary: 'This command requires an existing lockfile.', detail: '' } };
    expect(readAudit(JSON.stringify(said))).toEqual({ kind: 'failed', reason: said.error.summary });
  });

  const unreadable = [
    '',
    'null',
    '{}',
    'npm error',
    '[]',
    '{"auditReportVersion":3,"vulnerabilities":{},"metadata":{}}',
  ];
  it.each([...unreadable, report({ one: { name: 'one' } })])('is a failure when it cannot be read: %s', (said) => {
    expect(readAudit(said)).toMatchObject({ kind: 'failed' });
  });
});
