import type { Place } from './tree.ts';

/** One line for each word: fish itself finds those that fit. */
export function fishCompletion(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options, choices }) => {
    const condition = `-n ${quote(
      conditionOf(
        path,
        commands.map(({ word }) => word),
      ),
    )}`;
    return [
      ...commands.map(({ word, about }) => `complete -c inlet -f ${condition} -a ${quote(word)} -d ${quote(about)}`),
      ...choices.map((choice) => `complete -c inlet -f ${condition} -a ${quote(choice)}`),
      ...options.map((option) => {
        const value = option.takesValue
          ? ` -r${option.choices.length === 0 ? '' : ` -f -a ${quote(option.choices.join(' '))}`}`
          : '';
        return `complete -c inlet ${condition} -l ${quote(option.word.slice(2))}${value} -d ${quote(option.about)}`;
      }),
    ];
  });
  return `# fish completion of inlet: inlet completion fish > ~/.config/fish/completions/inlet.fish
${lines.join('\n')}
`;
}

function conditionOf(path: string, below: readonly string[]): string {
  if (path === '') return '__fish_use_subcommand';
  const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  const notYet = below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(' ')}`];
  return [...seen, ...notYet].join('; and ');
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
}
