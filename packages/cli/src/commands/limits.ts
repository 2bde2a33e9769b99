import type { Command } from 'commander';
import { type CommonOptions, partnerCommand } from '../command.ts';
import { connect } from '../connect.ts';
import { valueOf } from '../failures/api-errors.ts';
import { outputFor } from '../terminal/output.ts';
import { table } from '../terminal/table.ts';

export function addLimitsCommand(program: Command): void {
  partnerCommand(program, 'limits', {
    description: 'the most of each thing that you may send or ask for',
    examples: [['inlet limits', 'Show the limits of your key.']],
  }).action(async (options: CommonOptions) => {
    const output = outputFor(options);
    const inlet = await connect(options);
    const limits = valueOf(await inlet.getLimits());
    output.result(limits, () =>
      table(
        [
          { title: 'LIMIT', of: ([name]) => name },
          { title: 'MOST', align: 'right', of: ([, most]) => most.toLocaleString('en') },
        ],
        Object.entries(limits),
        output.stdout,
      ),
    );
  });
}
