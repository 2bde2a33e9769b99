/** A plausible bug and the finding that the auditor must report for it. */
export type Bug = {
  readonly name: string;
  /** The folder or file that contains the code. Exactly one file in it contains all strings to replace. */
  readonly within: string;
  /** Each text occurs exactly once. Whitespace is not significant. */
  readonly changes: readonly (readonly [from: string, to: string])[];
  /** A worker is suspended at this point until another worker has done its work. By default, no worker is suspended. */
  readonly stopAt?: string;
  /**
   * The next worker is suspended at this point until the first one has resumed. By default, the next worker finishes
   * before the first one resumes.
   */
  readonly stopNextAt?: string;
  /** The first request, during which the worker is suspended. */
  readonly first?: 'import';
  /** The request that is sent while the worker is suspended. By default, there is none. */
  readonly meanwhile?: 'clear';
  /** Whether the gate plants the bug too. The long run plants all bugs. */
  readonly inGate?: true;
  readonly reports: RegExp;
};

const postgres = 'src/adapters/postgres';
const clickhouse = 'src/adapters/clickhouse';

export const bugs: readonly Bug[] = [
  {
    name: 'the attempt fence is missing: a worker that resumes late also commits',
    within: postgres,
    changes: [['if (!job || !(await isStillOurs(tx, claim))) return false;', 'void [job, isStillOurs];']],
    stopAt: 'before files.commit',
    first: 'import',
    stopNextAt: 'before lanes.finishImport',
    reports: /rows, not/,
  },
  {
    name: 'loads are published twice',
    within: postgres,
    changes: [
      [
        `    if (loaded.length === 0) return false;
    const uploaded = loaded.reduce((sum, { uploaded_devices }) => sum + uploaded_devices, 0);`,
        '    const uploaded = loaded.length === 0 ? 4 : loaded.reduce((sum, one) => sum + one.uploaded_devices, 0);',
      ],
    ],
    stopAt: 'before lanes.commitAudienceLoads',
    reports: /uploaded/,
  },
  {
    name: 'a load is published into an audience cleared in the meantime',
    within: postgres,
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
    reports: /audience/,
  },
  {
    name: 'a job finishes twice',
    within: postgres,
    changes: [
      [".where('status', 'in', statusesBefore(status))", ".where('status', 'in', [...statusesBefore(status), status])"],
    ],
    stopAt: 'before lanes.finishImport',
    reports: /finished before an earlier job/,
  },
  {
    name: 'a clear does not start a new generation',
    within: postgres,
    changes: [
      ['generation: generation + 1,', 'generation,'],
      [
        '.values({ audience_id: audienceId, generation,',
        '.values({ audience_id: audienceId, generation: generation + 1,',
      ],
    ],
    reports: /member .* unexpected|rows of cleared generations|uploaded/,
  },
  {
    name: 'a clear does not cancel waiting jobs',
    within: postgres,
    changes: [['    await cancelJobs(tx, scope.partnerId, audienceId);\n', '    void cancelJobs;\n']],
    stopAt: 'before files.commit',
    meanwhile: 'clear',
    reports: /not finished|file .* is open|leftover token|status/,
  },
  {
    name: 'a clear cancels the jobs of other audiences',
    within: postgres,
    changes: [
      [
        "eb.selectFrom('audience_load').select('job_id').where('audience_id', '=', audienceId)",
        "eb.selectFrom('audience_load').select('job_id').where('audience_id', '>=', Math.min(0, audienceId))",
      ],
    ],
    stopAt: 'before files.commit',
    meanwhile: 'clear',
    reports: /member .* missing|uploaded/,
  },
  {
    name: 'a lane runs the newest job first',
    within: postgres,
    changes: [[".orderBy('job.seq')", ".orderBy('job.seq', 'desc')"]],
    reports: /finished before an earlier job/,
  },
  {
    name: 'a tenant filter is missing: a lane runs jobs of any partner',
    within: postgres,
    changes: [["    .where('job.partner_id', '=', partner.id)\n", '']],
    reports: /./,
  },
  {
    name: 'a lane keeps its token',
    within: `${postgres}/lane/`,
    changes: [
      [
        "await completeLaneToken(boss, tx, token); return { do: 'rest' };",
        "await new Promise(() => undefined); return { do: 'rest' };",
      ],
    ],
    reports: /leftover token|not finished/,
  },
  {
    name: 'a file without an accepted row succeeds',
    within: 'packages/row-rule/src',
    changes: [
      [
        "  if (accepted === 0 && rejected > 0) return { code: 'no_good_row', detail: `All ${total} rows were rejected.` };\n",
        '',
      ],
    ],
    reports: /status 2, not 3/,
  },
  {
    name: 'rejected rows are not counted',
    within: postgres,
    changes: [['return counts.accepted + rejectedRows(counts);', 'void rejectedRows; return counts.accepted;']],
    reports: /0 rows, not 1/,
  },
  {
    name: 'a batch drops one of its files',
    within: 'src/domain',
    changes: [['  return batches;', '  return batches.map((batch) => (batch.length > 1 ? batch.slice(1) : batch));']],
    reports: /missing/,
  },
  {
    name: 'staging tables are left behind',
    within: 'src/usecases',
    changes: [['if (drop.length > 0) await stage.dropStages(drop);', 'if (drop.length > 0) return;']],
    reports: /is staged/,
  },
  {
    name: 'staging tables are dropped before publishing',
    within: 'src/usecases',
    changes: [
      [
        'if (!(await verifyRows(deps, job, plan.publish, publish, { isPublishing: true }))) return false;',
        'await dropStages(deps.stage, plan);\n  if (!(await verifyRows(deps, job, plan.publish, publish, { isPublishing: true }))) return false;',
      ],
    ],
    reports: /status 3, not 2/,
  },
  {
    name: 'loads are published on one shard only',
    within: clickhouse,
    changes: [
      [
        '(server) => publish(server, withOwnTables.get(server) === true)',
        'async (server) => (server === engine.shards[0][0] ? publish(server, withOwnTables.get(server) === true) : 0)',
      ],
    ],
    reports: /missing|staged|leftover|not finished|status 3, not 2/,
  },
  {
    name: 'members are published under another partner',
    within: clickhouse,
    changes: [['query_params: { partner: load.partnerId,', 'query_params: { partner: load.partnerId + 1,']],
    reports: /member .* missing/,
  },
  {
    name: 'events are lost',
    within: clickhouse,
    changes: [['{generation: UInt32}, device, event, file_id', "{generation: UInt32}, device, '' AS event, file_id"]],
    reports: /member .* missing/,
  },
  {
    name: 'a replace import keeps earlier rows',
    within: clickhouse,
    changes: [[' AND version < {version: UInt64}`,', ' AND version < {version: UInt64} AND false`,']],
    reports: /attribute and device .* unexpected/,
  },
  {
    name: 'a delete keeps rows',
    within: clickhouse,
    changes: [
      [
        "DELETE IN PARTITION ID '${rows.partnerId}' WHERE ${condition}`",
        "DELETE IN PARTITION ID '${rows.partnerId}' WHERE ${condition} AND false`",
      ],
    ],
    reports: /attribute and device .* unexpected/,
  },
  {
    name: 'an earlier job overwrites a later one',
    within: 'src/domain',
    changes: [
      [
        'return { ofDeletes: seq * 2, ofAdds: seq * 2 + 1 };',
        'return { ofDeletes: 2_000_000 - seq * 2, ofAdds: 2_000_001 - seq * 2 };',
      ],
    ],
    inGate: true,
    reports: /attribute and device/,
  },
  {
    name: 'cleared generations are never purged',
    within: 'src/usecases',
    changes: [['if (plan.purge.length > 0) await deps.audienceWarehouse.purge(plan.purge, signal);', 'void signal;']],
    reports: /rows of cleared generations/,
  },
  {
    name: 'every unique device counts as matched',
    within: 'src/usecases',
    changes: [
      [
        '{ ...counts, knownVersion: before.knownVersion }',
        '{ ...counts, matched: counts.unique, knownVersion: before.knownVersion }',
      ],
    ],
    reports: /matched/,
  },
  {
    name: 'partner credentials are kept after the job finishes',
    within: postgres,
    changes: [["  await tx.deleteFrom('job_credential').where('job_id', '=', jobId).execute();\n", '']],
    reports: /credentials of job/,
  },
  {
    name: 'devices are counted once per file',
    within: 'src/usecases',
    changes: [
      [
        'finishImport(job.id, { uniqueDevices, failure',
        'finishImport(job.id, { uniqueDevices: uniqueDevices * 2, failure',
      ],
    ],
    reports: /devices, not/,
  },
  {
    name: 'a lane starts a job while the previous one runs',
    within: `${postgres}/lane/`,
    changes: [[".where('job.status', 'in', openStatuses)", ".where('job.status', '=', 0)"]],
    reports: /not finished|finished before/,
  },
];
