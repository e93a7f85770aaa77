// The completion of affiliate-mirror for zsh, with what each word means. Pure.

import { quoteForShell } from '../../contract/quote-for-shell.ts';
import { type Place, stepsOf, type Word } from './word-tree.ts';

/** Returns the script, to be read after compinit. Files are offered where anything may follow. */
export function renderZsh(places: readonly Place[]): string {
  return `# Completion of affiliate-mirror for zsh, made by: affiliate-mirror completion zsh
_affiliate_mirror() {
  local at= word takes_any=
  local -a found options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$at $word" in
      ${stepsOf(places).map(quoteForShell).join(' | ')}) at="\${at:+$at }$word" ;;
    esac
  done
  case "$at \${words[CURRENT-1]}" in
${places.flatMap(renderValues).join('\n')}
  esac
  case "$at" in
${places.map(renderPlace).join('\n')}
  esac
  # Behind -- there are no options.
  if (( \${words[(I)--]} > 0 && \${words[(i)--]} < CURRENT )); then options=(); fi
  if [[ \${words[CURRENT]} == -* ]]; then
    _describe option options
  else
    if (( $#found )); then _describe word found; fi
    if [[ -n $takes_any ]]; then _files; fi
  fi
}
compdef _affiliate_mirror affiliate-mirror`;
}

function renderValues({ path, options }: Place): string[] {
  return options.flatMap(({ text, short, value }) => {
    if (value === null) return [];
    const before = [text, short].flatMap((name) => (name === null ? [] : quoteForShell(`${path} ${name}`)));
    const offer =
      value.choices.length === 0 ? '_files' : `compadd -- ${value.choices.map(quoteForShell).join(' ')}`;
    return [`    ${before.join(' | ')}) ${offer}; return ;;`];
  });
}

function renderPlace({ path, words, options, takesAny }: Place): string {
  const found = words.length === 0 && !takesAny ? options : words;
  return `    ${quoteForShell(path)})
      found=(${found.map(describe).join(' ')})
      options=(${options.map(describe).join(' ')})
      takes_any=${takesAny ? 'yes' : ''} ;;`;
}

function describe({ text, description }: Word): string {
  return quoteForShell(`${text}:${description.replaceAll(':', '\\:')}`);
}
