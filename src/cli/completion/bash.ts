// The completion of affiliate-mirror for bash. Pure.

import { quoteForShell } from '../../contract/quote-for-shell.ts';
import { type Place, stepsOf } from './word-tree.ts';

/** Returns the script. Files are offered where no word fits. */
export function renderBash(places: readonly Place[]): string {
  return `# Completion of affiliate-mirror for bash, made by: affiliate-mirror completion bash
_affiliate_mirror() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path= word words= options=
  # bash splits --mode=full in three.
  if [[ $current == = ]]; then current=; fi
  if [[ $previous == = ]]; then previous=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case "$path $word" in
      ${stepsOf(places).map(quoteForShell).join(' | ')}) path="\${path:+$path }$word" ;;
    esac
  done
  COMPREPLY=()
  case "$path $previous" in
${places.flatMap(renderValues).join('\n')}
  esac
  case "$path" in
${places.map(renderPlace).join('\n')}
  esac
  # Behind -- there are no options.
  if [[ " \${COMP_WORDS[*]:1:COMP_CWORD - 1} " == *' -- '* ]]; then options=; fi
  if [[ $current == -* ]]; then words=$options; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _affiliate_mirror affiliate-mirror`;
}

function renderValues({ path, options }: Place): string[] {
  return options.flatMap(({ text, short, value }) => {
    if (value === null) return [];
    const choices = quoteForShell(value.choices.join(' '));
    const before = [text, short].flatMap((name) => (name === null ? [] : quoteForShell(`${path} ${name}`)));
    return [`    ${before.join(' | ')}) COMPREPLY=($(compgen -W ${choices} -- "$current")); return ;;`];
  });
}

function renderPlace({ path, words, options, takesAny }: Place): string {
  const all = options.map(({ text }) => text).join(' ');
  const first = words.map(({ text }) => text).join(' ');
  const offered = first === '' && !takesAny ? all : first;
  return `    ${quoteForShell(path)}) words=${quoteForShell(offered)} options=${quoteForShell(all)} ;;`;
}
