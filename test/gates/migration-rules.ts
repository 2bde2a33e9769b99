// During a deployment the release before runs on the new schema. So a migration may add, and may take something away only
// when no release that can still be running uses it: see docs/decisions/deployment.md.

type Store = 'postgres' | 'clickhouse';

const everywhere: readonly [RegExp, string][] = [
  [/\bDROP\s+(TABLE|VIEW|COLUMN|SEQUENCE|SCHEMA|TYPE|FUNCTION)\b/i, 'takes something away'],
  [/\bRENAME\b/i, 'renames'],
  // `TRUNCATE ON` stands in a trigger only.
  [/\bTRUNCATE\b(?!\s+ON\b)/i, 'empties a table'],
];

const ofStore: Readonly<Record<Store, readonly [RegExp, string][]>> = {
  postgres: [
    [/\bALTER\s+(COLUMN\s+)?\S+\s+(SET\s+DATA\s+)?TYPE\b/i, 'changes a type'],
    [/\bSET\s+NOT\s+NULL\b/i, 'demands a value'],
    [/\bDROP\s+DEFAULT\b/i, 'demands a value'],
    [
      /\bADD\s+COLUMN\s+(?:(?!\bDEFAULT\b|,|\bGENERATED\b)[\s\S])*\bNOT\s+NULL\b(?![^,]*\bDEFAULT\b)/i,
      'demands a value',
    ],
    [/\bADD\s+(CONSTRAINT|CHECK|UNIQUE|FOREIGN|PRIMARY|EXCLUDE)\b/i, 'demands more of rows than before'],
    [/\bCREATE\s+UNIQUE\s+INDEX\b/i, 'demands more of rows than before'],
  ],
  clickhouse: [
    // A codec may change: it is not seen by whoever reads or writes.
    [/\bMODIFY\s+COLUMN\s+(IF\s+EXISTS\s+)?\S+\s+(?!CODEC\b|COMMENT\b|TTL\b|DEFAULT\b)\S/i, 'changes a type'],
    [/\bMODIFY\s+(ORDER\s+BY|QUERY)\b/i, 'changes what old code relies on'],
    // A room that is open while the column comes does not have it, and could never be attached: see docs/decisions/load-and-publish.md.
    [/\bALTER\s+TABLE\s+(device_attributes|audience_devices)_local\b[\s\S]*\bADD\s+COLUMN\b/i, 'shuts open rooms out'],
  ],
};

const mark = /^--\s*contract, safe from \S+ on: \S/m;

/** What would break the release before, unless a comment says from which release on it does not. */
export function contractSteps(store: Store, migration: string): string[] {
  return migration.split(/;\s*$/m).flatMap((statement) => {
    if (mark.test(statement)) return [];
    const text = statement.replaceAll(/--.*$/gm, '').trim();
    const found = [...everywhere, ...ofStore[store]].find(([pattern]) => pattern.test(text));
    return found ? [`${found[1]}: ${text.replaceAll(/\s+/g, ' ').slice(0, 100)}`] : [];
  });
}
