import { describe, expect, it } from 'vitest';
import { readAudit } from './read-audit.ts';

// Output of npm 10.9 and 11.19, whose formats are identical.

const none = { info: 0, low: 0, moderate: 0, high: 0, critical: 0, total: 0 };
const advisory = (severity: string): object => ({
  source: 1,
  name: 'one',
  dependency: 'one',
  title: 'Leaks memory',
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
const rejected = (statusCode: number, body: unknown = ''): string =>
  JSON.stringify({
    message: `${statusCode} Rejected - POST https://registry.example/-/npm/v1/security/advisories/bulk`,
    method: 'POST',
    uri: 'https://registry.example/-/npm/v1/security/advisories/bulk',
    headers: { allow: ['GET,HEAD'] },
    statusCode,
    body,
    error: { summary: '', detail: '' },
  });

describe('readAudit', () => {
  it('returns no findings for a clean report', () => {
    expect(readAudit(report({}))).toEqual({ kind: 'audited', isSevere: false, findings: [] });
  });

  it.each(['info', 'low', 'moderate'])('lists a vulnerability of severity %s without failing', (severity) => {
    const one = vulnerability('one', severity, [advisory(severity)]);
    expect(readAudit(report({ one }, { [severity]: 1, total: 1 }))).toEqual({
      kind: 'audited',
      isSevere: false,
      findings: [`${severity}: one <2.0.0: Leaks memory (https://advisories.example/1)`],
    });
  });

  it.each(['high', 'critical', 'catastrophic'])('fails the audit on a vulnerability of severity %s', (severity) => {
    const one = vulnerability('one', severity, [advisory(severity)]);
    expect(readAudit(report({ one }, { [severity]: 1 }))).toMatchObject({ kind: 'audited', isSevere: true });
    expect(readAudit(report({ one }))).toMatchObject({ isSevere: true });
    expect(readAudit(report({}, { [severity]: 1 }))).toMatchObject({ isSevere: true });
  });

  it('fails the audit if any of several vulnerabilities is severe, even in a dependency', () => {
    const vulnerabilities = {
      minor: vulnerability('minor', 'low', [advisory('low')]),
      carrier: vulnerability('carrier', 'high', ['bad', 'worse']),
    };
    expect(readAudit(report(vulnerabilities))).toMatchObject({
      isSevere: true,
      findings: [expect.stringMatching(/^low: minor/), 'high: carrier <2.0.0: through bad; through worse'],
    });
  });

  it.each([404, 405, 501])('reports audits as unsupported when the registry responds with %d', (status) => {
    expect(readAudit(rejected(status))).toEqual({ kind: 'unsupported', status });
    expect(readAudit(rejected(status, { error: 'not found' }))).toEqual({ kind: 'unsupported', status });
  });

  it.each([400, 401, 403, 429, 500, 503])('fails when the registry responds with %d', (status) => {
    expect(readAudit(rejected(status))).toEqual({
      kind: 'failed',
      reason: `${status} Rejected - POST https://registry.example/-/npm/v1/security/advisories/bulk`,
    });
  });

  it('fails when the registry is unreachable', () => {
    const output = { message: 'request to https://registry.example failed', error: { summary: '', detail: '' } };
    expect(readAudit(JSON.stringify(output))).toEqual({ kind: 'failed', reason: output.message });
  });

  it('fails if there is no lock file', () => {
    const output = { error: { code: 'ENOLOCK', summary: 'This command requires an existing lockfile.', detail: '' } };
    expect(readAudit(JSON.stringify(output))).toEqual({ kind: 'failed', reason: output.error.summary });
  });

  const unreadable = [
    '',
    'null',
    '{}',
    'npm error',
    '[]',
    '{"auditReportVersion":3,"vulnerabilities":{},"metadata":{}}',
  ];
  it.each([...unreadable, report({ one: { name: 'one' } })])('fails on unreadable output: %s', (output) => {
    expect(readAudit(output)).toMatchObject({ kind: 'failed' });
  });
});
