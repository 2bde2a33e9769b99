import { type Incident, incidentSections } from '../generated/incidents.ts';
import type { Fault } from './engine.ts';
import type { Alert, LaneFailure } from './operator-api.ts';

const incidents = incidentSections.flatMap((section) => section.incidents);

/** What the incident page says about an alert. Null if it has only a section for it. */
export function incidentOf({ name }: Pick<Alert, 'name'>): Incident | null {
  return incidents.find(({ alerts }) => alerts.includes(name)) ?? null;
}

export function incidentLink(alert: Pick<Alert, 'name' | 'runbook'>): string {
  const section = alert.runbook.split('#')[1] ?? '';
  return `/console/operator/incidents#${encodeURIComponent(incidentOf(alert) ? alert.name : section)}`;
}

/** What the incident page says about the failure of a lane. Null if it says nothing. */
export function failureLink({ code, dependency }: LaneFailure): string | null {
  // What to do about a partner's own bucket is the same, whatever the code.
  const name = [dependency, code].find((one) => incidents.some(({ failures }) => failures.some((it) => it === one)));
  return name === undefined ? null : `/console/operator/incidents#${name}`;
}

/** What the incident page says about the fault of a replica. */
export function faultLink({ text }: Pick<Fault, 'text'>): string {
  return `/console/operator/incidents#${anchorOf(text)}`;
}

/** The IDs under which the incident page has an entry. */
export function anchorsOf({ alerts, failures, faults }: Incident): readonly string[] {
  return [...alerts, ...failures, ...faults.map(anchorOf)];
}

function anchorOf(fault: string): string {
  return fault.toLowerCase().replaceAll(' ', '-');
}

/** The `inlet` commands that a text names, each once. */
export function commandsIn(...texts: readonly string[]): readonly string[] {
  return [
    ...new Set(texts.flatMap((text) => [...text.matchAll(/`(inlet [^`]+)`/g)].map(([, command = '']) => command))),
  ];
}

/** Starts a sentence, unless the text starts with code. */
export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `1 critical alert, 2 warnings` */
export function countAlerts(alerts: readonly Pick<Alert, 'severity'>[]): string {
  const critical = alerts.filter(({ severity }) => severity === 'critical').length;
  const warnings = alerts.length - critical;
  return [count(critical, 'critical alert'), count(warnings, 'warning')].filter((part) => part !== '').join(', ');
}

function count(number: number, what: string): string {
  return number === 0 ? '' : `${number} ${what}${number === 1 ? '' : 's'}`;
}
