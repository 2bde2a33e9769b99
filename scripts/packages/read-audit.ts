import { z } from 'zod';

/** Result of `npm audit --json`. A registry without audit support is neither a failure nor a clean result. */
export type AuditOutcome =
  | { readonly kind: 'audited'; readonly isSevere: boolean; readonly findings: readonly string[] }
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
const errorSchema = z.object({
  message: z.string().optional(),
  statusCode: z.number().optional(),
  error: z.object({ code: z.string().optional(), summary: z.string().optional() }),
});

/** Any other severity fails the audit, including severities that npm adds later. */
const tolerated = new Set(['info', 'low', 'moderate']);
/** Not found, method not allowed, not implemented. */
const unsupportedStatus = new Set([404, 405, 501]);

export function readAudit(output: string): AuditOutcome {
  const parsed = parseJson(output);
  const report = reportSchema.safeParse(parsed);
  if (report.success) return toOutcome(report.data);
  const failure = errorSchema.safeParse(parsed);
  if (!failure.success) return { kind: 'failed', reason: 'npm printed no readable report' };
  const { statusCode, message, error } = failure.data;
  if (statusCode !== undefined && unsupportedStatus.has(statusCode)) return { kind: 'unsupported', status: statusCode };
  return { kind: 'failed', reason: message ?? error.summary ?? error.code ?? 'npm gave no reason' };
}

function toOutcome({ vulnerabilities, metadata }: z.infer<typeof reportSchema>): AuditOutcome {
  const found = Object.values(vulnerabilities);
  const counts = Object.entries(metadata.vulnerabilities).filter(([severity]) => severity !== 'total');
  const isSevere =
    found.some(({ severity }) => !tolerated.has(severity)) ||
    counts.some(([severity, count]) => count > 0 && !tolerated.has(severity));
  return { kind: 'audited', isSevere, findings: found.map(lineOf) };
}

function lineOf({ name, severity, range, via }: z.infer<typeof vulnerabilitySchema>): string {
  const causes = via.map((cause) => (typeof cause === 'string' ? `through ${cause}` : describeAdvisory(cause)));
  return `${severity}: ${name} ${range ?? ''}: ${causes.join('; ')}`.replace(' :', ':');
}

function describeAdvisory({ title = 'no title', url = 'no URL' }: z.infer<typeof advisorySchema>): string {
  return `${title} (${url})`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
