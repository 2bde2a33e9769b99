import type { Place } from './tree.ts';

/** The words that are no options say where one is; then what may follow there, or the choices of the option before. */
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
  return `# bash completion of inlet: source <(inlet completion bash)
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
# Where nothing fits, it is a file.
complete -o bashdefault -o default -F _inlet inlet
`;
}
