import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { outputFor } from '../terminal/output.ts';
import { table } from '../terminal/table.ts';

export function addLimitsCommand(program: Command): void {
  partnerCommand(program, 'limits', {
    description: 'show your rate and size limits',
    examples: [['inlet limits', 'Show the limits of your account.']],
  }).action(async (options: CommonOptions) => {
    const output = outputFor(options);
    const inlet = await connect(options);
    const limits = valueOf(await inlet.getLimits());
    output.result(limits, () =>
      table(
        [
          { title: 'LIMIT', of: ([name]) => name },
          { title: 'VALUE', align: 'right', of: ([, value]) => value.toLocaleString('en') },
        ],
        Object.entries(limits),
        output.stdout,
      ),
    );
  });
}
