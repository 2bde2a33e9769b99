import { type Incident, incidentSections } from '../generated/incidents.ts';
import type { Fault } from './engine.ts';
import type { Alert, LaneFailure } from './operator-api.ts';

const incidents = incidentSections.flatMap((section) => section.incidents);

/** The entry for an alert on the incident page. Null if the page has only a section for it. */
export function incidentOf({ name }: Pick<Alert, 'name'>): Incident | null {
  return incidents.find(({ alerts }) => alerts.includes(name)) ?? null;
}

export function incidentLink(alert: Pick<Alert, 'name' | 'runbook'>): string {
  const section = alert.runbook.split('#')[1] ?? '';
  return `/console/operator/incidents#${encodeURIComponent(incidentOf(alert) ? alert.name : section)}`;
}

/** The link to the entry for a lane failure on the incident page. Null if there is no entry. */
export function failureLink({ code, dependency }: LaneFailure): string | null {
  // The dependency comes first, because the remedy for a partner's own bucket is the same for every code.
  const name = [dependency, code].find((one) => incidents.some(({ failures }) => failures.some((it) => it === one)));
  return name === undefined ? null : `/console/operator/incidents#${name}`;
}

/** Returns the link to the incident page's entry for a replica's fault. */
export function faultLink({ text }: Pick<Fault, 'text'>): string {
  return `/console/operator/incidents#${anchorOf(text)}`;
}

/** The anchors of an entry on the incident page. */
export function anchorsOf({ alerts, failures, faults }: Incident): readonly string[] {
  return [...alerts, ...failures, ...faults.map(anchorOf)];
}

function anchorOf(fault: string): string {
  return fault.toLowerCase().replaceAll(' ', '-');
}

/** Returns the `inlet` commands in the texts, without duplicates. */
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
