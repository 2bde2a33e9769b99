import type { Place } from './completion.ts';

/**
 * The script identifies the command by the words that are not options. It then completes the next word or the value
 * of an option.
 */
export function bashCompletion(places: readonly Place[]): string {
  const cases = places.map((place) => {
    const words = [...place.commands, ...place.options].map(({ word }) => word);
    return `    '${place.path}') words='${[...words, ...place.choices].join(' ')}' ;;`;
  });
  const values = places.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ word, choices }) => `    '${path} ${word}') values='${choices.join(' ')}' ;;`),
  );
  return `# bash completion for inlet: source <(inlet completion bash)
_inlet() {
  local path='' words='' values='-' word index
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${path:+$path }\${COMP_WORDS[index]}"
    case "$word" in
    ${places
      .filter(({ path }) => path !== '')
      .map(({ path }) => `'${path}'`)
      .join('|')}) path="$word" ;;
    esac
  done
  case "$path $previous" in
${values.join('\n')}
  esac
  if [ "$values" != '-' ]; then words="$values"; else
  case "$path" in
${cases.join('\n')}
  esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
# Falls back to file names.
complete -o bashdefault -o default -F _inlet inlet
`;
}

/** The script defines one completion per word, and fish filters them. */
export function fishCompletion(places: readonly Place[]): string {
  const lines = places.flatMap(({ path, commands, options, choices }) => {
    const condition = `-n ${quoteForFish(
      conditionOf(
        path,
        commands.map(({ word }) => word),
      ),
    )}`;
    return [
      ...commands.map(
        ({ word, about }) => `complete -c inlet -f ${condition} -a ${quoteForFish(word)} -d ${quoteForFish(about)}`,
      ),
      ...choices.map((choice) => `complete -c inlet -f ${condition} -a ${quoteForFish(choice)}`),
      ...options.map((option) => {
        const value = option.takesValue
          ? ` -r${option.choices.length === 0 ? '' : ` -f -a ${quoteForFish(option.choices.join(' '))}`}`
          : '';
        return `complete -c inlet ${condition} -l ${quoteForFish(option.word.slice(2))}${value} -d ${quoteForFish(option.about)}`;
      }),
    ];
  });
  return `# fish completion for inlet: inlet completion fish > ~/.config/fish/completions/inlet.fish
${lines.join('\n')}
`;
}

function conditionOf(path: string, below: readonly string[]): string {
  if (path === '') return '__fish_use_subcommand';
  const seen = path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
  const notYet = below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.join(' ')}`];
  return [...seen, ...notYet].join('; and ');
}

function quoteForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
}

/** Works like the bash script, but also shows a description of each word. */
export function zshCompletion(places: readonly Place[]): string {
  const cases = places.map(({ path, commands, options, choices }) => {
    const words = [
      ...[...commands, ...options].map(({ word, about }) => quoteForZsh(`${escape(word)}:${about}`)),
      ...choices.map((choice) => quoteForZsh(escape(choice))),
    ];
    return `    ${quoteForZsh(path)}) words=(${words.join(' ')}) ;;`;
  });
  const values = places.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ word, choices }) =>
          `    ${quoteForZsh(`${path} ${word}`)}) values=(${choices.map(quoteForZsh).join(' ')}); isValue=1 ;;`,
      ),
  );
  return `#compdef inlet
# zsh completion for inlet, after compinit: source <(inlet completion zsh)
_inlet() {
  local place='' word isValue=0
  local -a words_before values
  words_before=("\${(@)words[2,CURRENT-1]}")
  local previous="\${words[CURRENT-1]}"
  for word in "\${words_before[@]}"; do
    case "\${place:+$place }$word" in
    ${places
      .filter(({ path }) => path !== '')
      .map(({ path }) => quoteForZsh(path))
      .join('|')}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place $previous" in
${values.join('\n')}
  esac
  if (( isValue )); then
    if (( \${#values} )); then compadd -a values; else _files; fi
    return
  fi
  local -a words
  case "$place" in
${cases.join('\n')}
  esac
  _describe 'inlet' words || _files
}
compdef _inlet inlet
`;
}

function quoteForZsh(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Escapes colons, because a colon separates a word from its description. */
function escape(word: string): string {
  return word.replaceAll(':', String.raw`\:`);
}
