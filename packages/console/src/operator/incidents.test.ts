import { describe, expect, it } from 'vitest';
import { incidentSections } from '../generated/incidents.ts';
import type { Fault } from './engine.ts';
import { anchorsOf, commandsIn, countAlerts, faultLink, incidentLink, incidentOf } from './incidents.ts';

describe('the link for an alert', () => {
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

describe('the link of a fault', () => {
  const symptoms: Readonly<Record<Fault['text'], RegExp>> = {
    Unreachable: /InletReplicaUnreachable/,
    'Read-only': /InletReplicaReadOnly/,
    'Session expired': /InletReplicaReadOnly/,
    Behind: /InletReplicaBehind/,
    'Mutation fails': /mutations on a shard fail/,
    'Disk full': /disk is full/,
  };

  it.each(
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the record
    Object.entries(symptoms) as [Fault['text'], RegExp][],
  )('leads from %s to its entry', (text, symptom) => {
    const [, anchor = ''] = faultLink({ text }).split('#');
    const entries = incidentSections.flatMap(({ incidents }) =>
      incidents.filter((incident) => anchorsOf(incident).includes(anchor)),
    );
    expect(entries).toEqual([expect.objectContaining({ symptom: expect.stringMatching(symptom) as unknown })]);
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
