// The command `completion`: prints a script by which a shell completes the words of this command line, as commander
// knows them. Which words may follow is a list; each shell looks up a place in it.

import { Argument, type Command } from 'commander';
import type { Cli } from '../cli.ts';
import { printData } from '../output/print.ts';

/** The words that may follow at a place; none if a file or any value may. */
type WordsAt = readonly [place: string, words: readonly string[]];

const HELP = `
Made from the commands that this version has. To have it in every new shell, add to its configuration:
  ~/.bashrc                    source <(affiliate-mirror completion bash)
  ~/.zshrc, after compinit     source <(affiliate-mirror completion zsh)
  ~/.config/fish/config.fish   affiliate-mirror completion fish | source

A shell completes "affiliate-mirror", not "npx affiliate-mirror": the command must be in the PATH.`;

const SHELLS: Readonly<Record<string, (words: readonly WordsAt[]) => string>> = {
  bash: renderBash,
  // bash's completions run in zsh as they are.
  zsh: (words) => `autoload -Uz bashcompinit && bashcompinit\n${renderBash(words)}`,
  fish: renderFish,
};

export function registerCompletion(root: Command, cli: Cli): void {
  root
    .command('completion')
    .description('print a script for the shell, which then completes commands and options')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', HELP)
    .action((shell: string) =>
      cli.run(async () => {
        printData(renderCompletion(root, shell));
        return 0;
      }),
    );
}

/** Returns the script for the shell; empty where it is none of bash, zsh and fish. */
export function renderCompletion(root: Command, shell: string): string {
  return SHELLS[shell]?.(readWords(root, '')) ?? '';
}

/** Returns the words behind ` sync`, its options behind ` sync -`, and the values of each behind ` sync --mode`. */
function readWords(command: Command, place: string): WordsAt[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const options = help.visibleOptions(command);
  const optionWords = options.map(({ long, short }) => long ?? short ?? '');
  const takesAny = command.registeredArguments.some(({ argChoices }) => argChoices === undefined);
  const words = [
    ...commands.map((one) => one.name()),
    ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  ];
  // A value that may be left out is no reason to offer nothing else.
  const valued = options.filter(({ required, optional }) => required && !optional);
  return [
    [place, words.length === 0 && !takesAny ? optionWords : words],
    [`${place} -`, optionWords],
    ...valued.flatMap(({ long, short, argChoices = [] }) =>
      [long, short].flatMap((name): WordsAt[] => (name ? [[`${place} ${name}`, argChoices]] : [])),
    ),
    // The word "help" leads nowhere of its own: behind it come the commands that come at the beginning.
    ...commands
      .filter((one) => one.name() !== 'help')
      .flatMap((one) => readWords(one, `${place} ${one.name()}`)),
  ];
}

function renderBash(places: readonly WordsAt[]): string {
  return `_affiliate_mirror_words() {
  case "$1" in
${places.map(([place, words]) => `    '${place}') echo '${words.join(' ')}' ;;`).join('\n')}
    *) return 1 ;;
  esac
}
_affiliate_mirror() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" place= word= words=
  # bash splits --mode=full in three.
  if [[ $current == = ]]; then current=; fi
  if [[ $previous == = ]]; then previous="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    if [[ $word != -* ]] && _affiliate_mirror_words "$place $word" > /dev/null; then place="$place $word"; fi
  done
  if [[ $previous != -* ]] || ! words=$(_affiliate_mirror_words "$place $previous"); then
    if [[ $current == -* ]]; then place="$place -"; fi
    words=$(_affiliate_mirror_words "$place")
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _affiliate_mirror affiliate-mirror`;
}

function renderFish(places: readonly WordsAt[]): string {
  const cases = places.map(([place, words]) => {
    const offer =
      words.length === 0
        ? '__fish_complete_path (commandline -ct)'
        : `string split -- ' ' '${words.join(' ')}'`;
    return `        case '${place}'\n            ${offer}`;
  });
  return `function __affiliate_mirror_words
    switch "$argv"
${cases.join('\n')}
        case '*'
            return 1
    end
    return 0
end
function __affiliate_mirror
    set -l place ''
    set -l before (commandline -opc)
    for word in $before[2..]
        if not string match -q -- '-*' $word; and __affiliate_mirror_words "$place $word" >/dev/null
            set place "$place $word"
        end
    end
    if string match -q -- '-*' $before[-1]; and __affiliate_mirror_words "$place $before[-1]"
        return
    end
    if string match -q -- '-*' (commandline -ct)
        set place "$place -"
    end
    __affiliate_mirror_words "$place"
end
complete -c affiliate-mirror -e
complete -c affiliate-mirror -f -a '(__affiliate_mirror)'`;
}
