/** A mistake that somebody could make, and what the auditor must say of it. */
export type Bug = {
  readonly name: string;
  readonly file: string;
  /** Each is there once. */
  readonly changes: readonly (readonly [from: string, to: string])[];
  /** A worker stands still at this point until another has done its work. Without it all goes its usual way. */
  readonly stopAt?: string;
  /** What is asked for first: whatever stops does so with it. */
  readonly first?: 'import';
  /** What is asked for while it stands still: by default nothing. */
  readonly meanwhile?: 'clear';
  readonly says: RegExp;
};

const postgres = 'src/adapters/postgres';
const clickhouse = 'src/adapters/clickhouse';

export const bugs: readonly Bug[] = [
  {
    name: 'no attempt fence: a worker that wakes up late commits as well',
    file: `${postgres}/files/commit-batch.ts`,
    changes: [['if (!job || !(await isStillOurs(tx, claim))) return false;', 'void [job, isStillOurs];']],
    stopAt: 'before files.commit',
    first: 'import',
    says: /rows, not/,
  },
  {
    name: 'loads are settled twice',
    file: `${postgres}/lanes/settle.ts`,
    changes: [
      [
        `    if (loaded.length === 0) return false;
    const uploaded = loaded.reduce((sum, { uploaded_devices }) => sum + uploaded_devices, 0);`,
        '    const uploaded = loaded.length === 0 ? 4 : loaded.reduce((sum, one) => sum + one.uploaded_devices, 0);',
      ],
    ],
    stopAt: 'before lanes.commitAudienceLoads',
    says: /uploaded/,
  },
  {
    name: 'a load is settled although the audience was cleared meanwhile',
    file: `${postgres}/lanes/settle.ts`,
    changes: [
      [
        `      .where('generation', '=', job.generation)
      .forUpdate()`,
        '      .forUpdate()',
      ],
      [
        `    .where('status', '=', jobStatus.running)
    .where('cancelled', '=', false)
    .returning('id')`,
        "    .returning('id')",
      ],
    ],
    stopAt: 'before lanes.commitAudienceLoads',
    meanwhile: 'clear',
    says: /audience/,
  },
  {
    name: 'a job ends a second time',
    file: `${postgres}/lanes/end-job.ts`,
    changes: [
      [".where('status', 'in', statusesBefore(status))", ".where('status', 'in', [...statusesBefore(status), status])"],
    ],
    stopAt: 'before lanes.finishImport',
    says: /ended before one that was asked for earlier/,
  },
  {
    name: 'a clear without a new generation',
    file: `${postgres}/audiences/clear.ts`,
    changes: [
      ['generation: generation + 1,', 'generation,'],
      [
        '.values({ audience_id: audienceId, generation,',
        '.values({ audience_id: audienceId, generation: generation + 1,',
      ],
    ],
    says: /member .* nobody asked for it|rows of generations|uploaded/,
  },
  {
    name: 'a clear that leaves what waits',
    file: `${postgres}/audiences/clear.ts`,
    changes: [['    await cancelJobs(tx, scope.partnerId, audienceId);\n', '    void cancelJobs;\n']],
    stopAt: 'before files.commit',
    meanwhile: 'clear',
    says: /not ended|file .* is open|a token is left|status/,
  },
  {
    name: 'a clear that ends the jobs of other audiences',
    file: `${postgres}/audiences/clear.ts`,
    changes: [
      [
        "eb.selectFrom('audience_load').select('job_id').where('audience_id', '=', audienceId)",
        "eb.selectFrom('audience_load').select('job_id').where('audience_id', '>=', Math.min(0, audienceId))",
      ],
    ],
    stopAt: 'before files.commit',
    meanwhile: 'clear',
    says: /member .* missing|uploaded/,
  },
  {
    name: 'a lane that takes the newest job first',
    file: `${postgres}/lanes/lock-oldest-open-job.ts`,
    changes: [[".orderBy('job.seq')", ".orderBy('job.seq', 'desc')"]],
    says: /ended before one that was asked for earlier/,
  },
  {
    name: "a tenant filter left out: a lane takes anybody's job",
    file: `${postgres}/lanes/lock-oldest-open-job.ts`,
    changes: [["    .where('job.partner_id', '=', partnerId)\n", '']],
    says: /./,
  },
  {
    name: 'a lane that keeps its token',
    file: `${postgres}/lanes/next-step.ts`,
    changes: [['\n    await completeLaneToken(boss, tx, token);\n', '\n    await new Promise(() => undefined);\n']],
    says: /a token is left|not ended/,
  },
  {
    name: 'a bad file is taken for a good one',
    file: 'packages/row-rule/src/file-rule.ts',
    changes: [
      ["  if (accepted === 0) return { code: 'no_good_row', detail: `All ${rejected} rows were rejected.` };\n", ''],
    ],
    says: /status 2, not 3/,
  },
  {
    name: 'refused rows are not counted',
    file: `${postgres}/files/commit-batch.ts`,
    changes: [['return counts.accepted + rejectedRows(counts);', 'void rejectedRows; return counts.accepted;']],
    says: /0 rows, not 1/,
  },
  {
    name: 'a file of a batch is forgotten',
    file: 'src/domain/batches.ts',
    changes: [['  return batches;', '  return batches.map((batch) => (batch.length > 1 ? batch.slice(1) : batch));']],
    says: /missing/,
  },
  {
    name: 'stages are left behind',
    file: 'src/usecases/settle-loads.ts',
    changes: [
      [
        '  const takenOver = loads.filter(isTakenOver);\n',
        '  if (loads.length > 0) return;\n  const takenOver = loads.filter(isTakenOver);\n',
      ],
    ],
    says: /is staged/,
  },
  {
    name: 'stages are dropped before they are published',
    file: 'src/usecases/settle-loads.ts',
    changes: [
      [
        '    for (const { load } of loads) await deps.warehouse.publish(load);\n',
        '    await dropStages(deps.stage, loads);\n    for (const { load } of loads) await deps.warehouse.publish(load);\n',
      ],
    ],
    says: /attribute and device .* missing/,
  },
  {
    name: 'loads are published on one shard only',
    file: `${clickhouse}/connect.ts`,
    changes: [['return Promise.all(engine.shards.map(', 'return Promise.all(engine.shards.slice(0, 1).map(']],
    says: /missing|staged|left/,
  },
  {
    name: "members come under another partner's name",
    file: `${clickhouse}/audiences/publish-members.ts`,
    changes: [['query_params: { partner: load.partnerId,', 'query_params: { partner: load.partnerId + 1,']],
    says: /member .* missing/,
  },
  {
    name: 'events are lost',
    file: `${clickhouse}/audiences/publish-members.ts`,
    changes: [['{generation: UInt32}, device, event, file_id', "{generation: UInt32}, device, '' AS event, file_id"]],
    says: /member .* missing/,
  },
  {
    name: 'a replacing job leaves what was there',
    file: `${clickhouse}/publish.ts`,
    changes: [[' AND version < {version: UInt64}`,', ' AND version < {version: UInt64} AND false`,']],
    says: /attribute and device .* nobody asked for it/,
  },
  {
    name: 'a delete leaves rows',
    file: `${clickhouse}/attribute-rows.ts`,
    changes: [
      [
        "DELETE IN PARTITION ID '${rows.partnerId}' WHERE ${condition}`",
        "DELETE IN PARTITION ID '${rows.partnerId}' WHERE ${condition} AND false`",
      ],
    ],
    says: /attribute and device .* nobody asked for it/,
  },
  {
    name: 'an older job wins over a later one',
    file: 'src/domain/device-version.ts',
    changes: [
      [
        'return { ofDeletes: seq * 2, ofAdds: seq * 2 + 1 };',
        'return { ofDeletes: 2_000_000 - seq * 2, ofAdds: 2_000_001 - seq * 2 };',
      ],
    ],
    says: /attribute and device/,
  },
  {
    name: 'cleared generations are never purged',
    file: 'src/usecases/purge-generations.ts',
    changes: [['if (toPurge.length > 0) await deps.audienceWarehouse.purge(toPurge, signal);', 'void signal;']],
    says: /rows of generations that were cleared/,
  },
  {
    name: 'every unique device counts as matched',
    file: 'src/usecases/settle-loads.ts',
    changes: [
      [
        '{ ...counts, knownVersion: before.knownVersion }',
        '{ ...counts, matched: counts.unique, knownVersion: before.knownVersion }',
      ],
    ],
    says: /matched/,
  },
  {
    name: "a partner's credentials are kept after its job has ended",
    file: `${postgres}/lanes/end-job.ts`,
    changes: [["  await tx.deleteFrom('job_credential').where('job_id', '=', jobId).execute();\n", '']],
    says: /credentials of job/,
  },
  {
    name: 'devices are counted once for each file',
    file: 'src/usecases/finish-import.ts',
    changes: [
      [
        'finishImport(job.id, { uniqueDevices, failure',
        'finishImport(job.id, { uniqueDevices: uniqueDevices * 2, failure',
      ],
    ],
    says: /devices, not/,
  },
  {
    name: 'a lane that goes on while the job before still runs',
    file: `${postgres}/lanes/lock-oldest-open-job.ts`,
    changes: [[".where('job.status', 'in', openStatuses)", ".where('job.status', '=', 0)"]],
    says: /not ended|ended before/,
  },
];
