import { z } from 'zod';

/** What `npm audit --json` said. A registry that has no such question is no failure, and no all-clear either. */
export type AuditOutcome =
  | { readonly kind: 'asked'; readonly isGrave: boolean; readonly findings: readonly string[] }
  | { readonly kind: 'unsupported'; readonly status: number }
  | { readonly kind: 'failed'; readonly reason: string };

const advisorySchema = z.object({ title: z.string().optional(), url: z.string().optional() });
const vulnerabilitySchema = z.object({
  name: z.string(),
  severity: z.string(),
  range: z.string().optional(),
  via: z.array(z.union([z.string(), advisorySchema])),
});
const reportSchema = z.object({
  auditReportVersion: z.literal(2),
  vulnerabilities: z.record(z.string(), vulnerabilitySchema),
  metadata: z.object({ vulnerabilities: z.record(z.string(), z.number()) }),
});
const refusalSchema = z.object({
  message: z.string().optional(),
  statusCode: z.number().optional(),
  error: z.object({ code: z.string().optional(), summary: z.string().optional() }),
});

/** Whatever is not one of these is grave, a word that npm may learn one day too. */
const bearable = new Set(['info', 'low', 'moderate']);
/** Not found, method not allowed, not implemented. */
const unsupportedStatus = new Set([404, 405, 501]);

export function readAudit(output: string): AuditOutcome {
  const said = parseJson(output);
  const report = reportSchema.safeParse(said);
  if (report.success) return judge(report.data);
  const refusal = refusalSchema.safeParse(said);
  if (!refusal.success) return { kind: 'failed', reason: 'npm said nothing that can be read' };
  const { statusCode, message, error } = refusal.data;
  if (statusCode !== undefined && unsupportedStatus.has(statusCode)) return { kind: 'unsupported', status: statusCode };
  return { kind: 'failed', reason: message ?? error.summary ?? error.code ?? 'npm did not say why' };
}

function judge({ vulnerabilities, metadata }: z.infer<typeof reportSchema>): AuditOutcome {
  const found = Object.values(vulnerabilities);
  const counts = Object.entries(metadata.vulnerabilities).filter(([severity]) => severity !== 'total');
  const isGrave =
    found.some(({ severity }) => !bearable.has(severity)) ||
    counts.some(([severity, count]) => count > 0 && !bearable.has(severity));
  return { kind: 'asked', isGrave, findings: found.map(lineOf) };
}

function lineOf({ name, severity, range, via }: z.infer<typeof vulnerabilitySchema>): string {
  const causes = via.map((cause) => (typeof cause === 'string' ? `through ${cause}` : wordsOf(cause)));
  return `${severity}: ${name} ${range ?? ''}: ${causes.join('; ')}`.replace(' :', ':');
}

function wordsOf({ title = 'without a title', url = 'without an address' }: z.infer<typeof advisorySchema>): string {
  return `${title} (${url})`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
