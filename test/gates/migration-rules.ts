// During a deployment, the previous release runs on the new schema. A migration can add to the schema, but it can
// remove only what no running release uses. See docs/decisions/deployment.md.

type Store = 'postgres' | 'clickhouse';

const everywhere: readonly [RegExp, string][] = [
  [/\bDROP\s+(TABLE|VIEW|COLUMN|SEQUENCE|SCHEMA|TYPE|FUNCTION)\b/i, 'drops something'],
  [/\bRENAME\b/i, 'renames'],
  // `TRUNCATE ON` occurs only in triggers.
  [/\bTRUNCATE\b(?!\s+ON\b)/i, 'empties a table'],
];

const ofStore: Readonly<Record<Store, readonly [RegExp, string][]>> = {
  postgres: [
    [/\bALTER\s+(COLUMN\s+)?\S+\s+(SET\s+DATA\s+)?TYPE\b/i, 'changes a type'],
    [/\bSET\s+NOT\s+NULL\b/i, 'requires a value'],
    [/\bDROP\s+DEFAULT\b/i, 'requires a value'],
    [
      /\bADD\s+COLUMN\s+(?:(?!\bDEFAULT\b|,|\bGENERATED\b)[\s\S])*\bNOT\s+NULL\b(?![^,]*\bDEFAULT\b)/i,
      'requires a value',
    ],
    [/\bADD\s+(CONSTRAINT|CHECK|UNIQUE|FOREIGN|PRIMARY|EXCLUDE)\b/i, 'adds a constraint'],
    [/\bCREATE\s+UNIQUE\s+INDEX\b/i, 'adds a constraint'],
  ],
  clickhouse: [
    // A codec can change, because readers and writers do not depend on it.
    [/\bMODIFY\s+COLUMN\s+(IF\s+EXISTS\s+)?\S+\s+(?!CODEC\b|COMMENT\b|TTL\b|DEFAULT\b)\S/i, 'changes a type'],
    [/\bMODIFY\s+(ORDER\s+BY|QUERY)\b/i, 'changes a sort key or a view'],
    // Existing staging tables lack the new column and could not be attached. See docs/decisions/load-and-publish.md.
    [
      /\bALTER\s+TABLE\s+(device_attributes|audience_devices)_local\b[\s\S]*\bADD\s+COLUMN\b/i,
      'breaks existing staging tables',
    ],
  ],
};

const mark = /^--\s*contract, safe from \S+ on: \S/m;

/**
 * Returns the statements that would break the previous release, except statements marked as safe from a given release
 * on.
 */
export function contractSteps(store: Store, migration: string): string[] {
  return migration.split(/;\s*$/m).flatMap((statement) => {
    if (mark.test(statement)) return [];
    const text = statement.replaceAll(/--.*$/gm, '').trim();
    const found = [...everywhere, ...ofStore[store]].find(([pattern]) => pattern.test(text));
    return found ? [`${found[1]}: ${text.replaceAll(/\s+/g, ' ').slice(0, 100)}`] : [];
  });
}
