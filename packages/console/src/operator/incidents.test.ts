import { describe, expect, it } from 'vitest';
import { commandsIn, countAlerts, incidentLink, incidentOf } from './incidents.ts';

describe('the link of an alert', () => {
  it('leads to the entry that names the alert', () => {
    const alert = { name: 'InletReplicaBehind', runbook: 'docs/operators/incidents.md#the-stores' };
    expect(incidentOf(alert)?.action).toMatch(/replace the replica \(docs\/operators\/install\.md#replicas\)/);
    expect(incidentLink(alert)).toBe('/console/operator/incidents#InletReplicaBehind');
  });

  it('leads to the section if no entry names the alert', () => {
    const alert = { name: 'InletUnheardOf', runbook: 'docs/operators/incidents.md#the-stores' };
    expect(incidentLink(alert)).toBe('/console/operator/incidents#the-stores');
  });
});

it('finds each command of a text once', () => {
  const texts = ['run `inlet doctor`, see `system.parts`', 'run `inlet doctor`, then `inlet jobs retry <id>`'];
  expect(commandsIn(...texts)).toEqual(['inlet doctor', 'inlet jobs retry <id>']);
});

it('counts alerts by severity', () => {
  const critical = { severity: 'critical' } as const;
  const warning = { severity: 'warning' } as const;
  expect(countAlerts([])).toBe('');
  expect(countAlerts([critical])).toBe('1 critical alert');
  expect(countAlerts([critical, warning, warning])).toBe('1 critical alert, 2 warnings');
});
