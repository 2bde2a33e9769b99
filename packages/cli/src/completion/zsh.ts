import type { Place } from './tree.ts';

/** As for bash, with what each word means beside it. */
export function zshCompletion(places: readonly Place[]): string {
  const cases = places.map(({ path, commands, options, choices }) => {
    const words = [
      ...[...commands, ...options].map(({ word, about }) => quote(`${escape(word)}:${about}`)),
      ...choices.map((choice) => quote(escape(choice))),
    ];
    return `    ${quote(path)}) words=(${words.join(' ')}) ;;`;
  });
  const values = places.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ word, choices }) =>
          `    ${quote(`${path} ${word}`)}) values=(${choices.map(quote).join(' ')}); isValue=1 ;;`,
      ),
  );
  return `#compdef inlet
# zsh completion of inlet, behind compinit: source <(inlet completion zsh)
_inlet() {
  local place='' word isValue=0
  local -a words_before values
  words_before=("\${(@)words[2,CURRENT-1]}")
  local previous="\${words[CURRENT-1]}"
  for word in "\${words_before[@]}"; do
    case "\${place:+$place }$word" in
    ${places
      .filter(({ path }) => path !== '')
      .map(({ path }) => quote(path))
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

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A colon parts the word from what it means. */
function escape(word: string): string {
  return word.replaceAll(':', String.raw`\:`);
}
