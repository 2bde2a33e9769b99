import { afterAll, describe, expect, inject, it } from 'vitest';
import type { Case, Finding } from './cases.ts';
import { engineCases } from './engine.ts';
import { postgresCases } from './postgres.ts';
import { restoredCases } from './restored.ts';
import { type Installation, newSite, startInstallation } from './site.ts';
import { storageCases } from './storage.ts';
import { topologyCases } from './topology.ts';

// Tests ways to misconfigure an installation or to make its systems disagree. A case passes if nothing is lost, every
// number is right after the problem is fixed, and `inlet doctor` or `inlet audit` names the problem.

const groups = [topologyCases, engineCases, postgresCases, storageCases, restoredCases];
const all: readonly Case[] = groups.flat().toSorted((one, other) => one.number - other.number);
const cases = inject('campaign') === 'long' ? all : all.filter(({ isShort }) => isShort);

describe('a misconfigured installation', () => {
  const table: string[] = [];
  let shared: Promise<Installation> | undefined;
  afterAll(async () => {
    process.stdout.write(`\n${['case | what happened | named by', ...table].join('\n')}\n`);
    await (await shared)?.stop();
  });

  it.each(cases)(
    'in case $number ($title), nothing is lost, and the problem is named',
    async ({ number, title, run }) => {
      const own: Installation[] = [];
      const empty = async (): Promise<Installation> => {
        const installation = await startInstallation();
        own.push(installation);
        return installation;
      };
      const sites = {
        shared: async () => newSite(await (shared ??= startInstallation())),
        own: async () => newSite(await empty()),
        empty,
      };
      let finding: Finding;
      try {
        finding = await run(sites);
      } finally {
        await (await shared)?.stopWorkers();
        for (const installation of own) await installation.stop();
      }
      table.push(`${number} ${title} | ${finding.outcome}: ${finding.says} | ${finding.named}`);
      expect(finding.outcome).not.toBe('unexplained');
      expect(finding.wrong).toEqual([]);
      expect(finding.named).not.toMatch(/^(?:$|not named)/);
    },
  );
});
