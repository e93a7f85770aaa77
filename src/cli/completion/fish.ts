// The completion of affiliate-mirror for fish, with what each word means. Pure.

import { type OptionWord, type Place, stepsOf, type Word } from './word-tree.ts';

/** Returns the script. Files are offered where anything may follow. */
export function renderFish(places: readonly Place[]): string {
  return `# Completion of affiliate-mirror for fish, made by: affiliate-mirror completion fish
function __affiliate_mirror_at
    set -l at ''
    for word in (commandline -opc)[2..]
        switch "$at $word"
            case ${stepsOf(places).map(quote).join(' ')}
                set at (string trim -- "$at $word")
        end
    end
    test "$at" = "$argv"
end
complete -c affiliate-mirror -e
${places.flatMap(renderPlace).join('\n')}`;
}

function renderPlace({ path, words, options, takesAny }: Place): string[] {
  const complete = `complete -c affiliate-mirror -n ${quote(`__affiliate_mirror_at ${path}`.trim())}`;
  return [
    ...(takesAny ? [] : [`${complete} -f`]),
    ...words.map((word) => `${complete} -a ${quote(word.text)} ${describe(word)}`),
    ...options.map((option) => `${complete} ${renderOption(option)} ${describe(option)}`),
  ];
}

function renderOption({ text, short, value }: OptionWord): string {
  const name = [
    `-l ${text.replace(/^--/, '')}`,
    ...(short === null ? [] : [`-s ${short.replace('-', '')}`]),
  ].join(' ');
  if (value === null) return name;
  return value.choices.length === 0 ? `${name} -r` : `${name} -x -a ${quote(value.choices.join(' '))}`;
}

function describe({ description }: Word): string {
  return `-d ${quote(description)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
