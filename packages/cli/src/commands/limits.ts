import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { outputFor } from '../terminal/output.ts';
import { table } from '../terminal/table.ts';

export function addLimitsCommand(program: Command): void {
  partnerCommand(program, 'limits', {
    description: 'show your limits, quotas, and privacy budget',
    examples: [['inlet limits', 'Show the limits of your account.']],
  }).action(async (options: CommonOptions) => {
    const output = outputFor(options);
    const inlet = await connect(options);
    const limits = valueOf(await inlet.getLimits());
    output.result(limits, () => {
      const { quotas, reports, ...others } = limits;
      const values = table(
        [
          { title: 'LIMIT', of: ([name]) => name },
          {
            title: 'VALUE',
            align: 'right',
            of: ([, value]) =>
              typeof value === 'boolean' ? (value ? 'yes' : 'no') : (value?.toLocaleString('en') ?? '-'),
          },
        ],
        Object.entries(others),
        output.stdout,
      );
      const usage = table(
        [
          { title: 'QUOTA', of: ([name]) => name },
          { title: 'LIMIT', align: 'right', of: ([, { limit }]) => limit.toLocaleString('en') },
          { title: 'USED', align: 'right', of: ([, { used }]) => used.toLocaleString('en') },
        ],
        quotas ? Object.entries(quotas) : [],
        output.stdout,
      );
      const budget = table(
        [
          { title: 'NEW REPORTS IN 30 DAYS', of: ([name]) => name },
          {
            title: 'LIMIT',
            align: 'right',
            of: ([, { limit }]) => (limit === 0 ? 'none' : limit.toLocaleString('en')),
          },
          { title: 'USED', align: 'right', of: ([, { used }]) => used.toLocaleString('en') },
        ],
        Object.entries(reports),
        output.stdout,
      );
      return `${values}\n${usage}\n${budget}`;
    });
  });
}
