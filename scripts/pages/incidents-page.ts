import { readFileSync } from 'node:fs';
import { posix } from 'node:path';

type Incident = Readonly<Record<'symptom' | 'check' | 'action', string>> & {
  /** The alerts that the symptom names. */
  readonly alerts: readonly string[];
  /** The codes and dependencies that, according to the symptom, `inlet lanes` shows. */
  readonly failures: readonly string[];
  /** The faults of replicas that the symptom says the engine page shows. */
  readonly faults: readonly string[];
};
type Section = { readonly id: string; readonly title: string; readonly incidents: readonly Incident[] };

const path = 'docs/operators/incidents.md';

/**
 * packages/console/src/generated/incidents.ts: what to do for each symptom. An operator who is paged reads it next to
 * the alert, without access to the documentation.
 */
export function consoleIncidentsPage(): string {
  const sections = readIncidents(readFileSync(path, 'utf8'));
  return [
    `// Generated from ${path} by "npm run generate". Do not edit.`,
    '',
    'export type Incident = {',
    '  readonly alerts: readonly string[];',
    '  /** The codes and dependencies of the failures of lanes that the incident explains. */',
    '  readonly failures: readonly string[];',
    '  /** The faults of replicas that the incident explains. */',
    '  readonly faults: readonly string[];',
    '  readonly symptom: string;',
    '  readonly check: string;',
    '  readonly action: string;',
    '};',
    '',
    '/** The sections of the page. The texts are plain except for code in backticks. */',
    'export const incidentSections: readonly {',
    '  readonly id: string;',
    '  readonly title: string;',
    '  readonly incidents: readonly Incident[];',
    `}[] = ${JSON.stringify(sections, null, 2)};`,
    '',
  ].join('\n');
}

function readIncidents(page: string): readonly Section[] {
  return page
    .split('\n## ')
    .slice(1)
    .map((part) => {
      const [title = '', ...lines] = part.split('\n');
      const rows = lines.filter((line) => line.startsWith('| ')).slice(2);
      return { id: title.toLowerCase().replaceAll(' ', '-'), title, incidents: rows.map(toIncident) };
    })
    .filter(({ incidents }) => incidents.length > 0);
}

function toIncident(row: string): Incident {
  const cells = row.split('|').map((cell) => withoutLinks(cell.trim()));
  const [, symptom = '', check = '', action = ''] = cells;
  const failures = [...symptom.matchAll(/`inlet lanes` shows `([a-z_]+)`/g)].map(([, name = '']) => name);
  const [, shown = ''] = /the engine page shows ([^;]*)/.exec(symptom) ?? [];
  const faults = [...shown.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  return { alerts: symptom.match(/\bInlet[A-Z]\w+/g) ?? [], failures, faults, symptom, check, action };
}

/** Writes `[text](file.md#part)` as `text (docs/operators/file.md#part)`. */
function withoutLinks(text: string): string {
  return text.replaceAll(
    /\[([^\]]*)\]\(([^)]*)\)/g,
    (_link, name: string, target: string) => `${name} (${posix.join(posix.dirname(path), target)})`,
  );
}
