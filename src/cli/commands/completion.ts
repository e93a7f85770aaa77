// The command `completion`: prints a script by which a shell completes the words of this command line.

import { Argument, type Command } from 'commander';
import type { Cli } from '../cli.ts';
import { renderBash } from '../completion/bash.ts';
import { renderFish } from '../completion/fish.ts';
import { type Place, readPlaces } from '../completion/word-tree.ts';
import { renderZsh } from '../completion/zsh.ts';
import { printData } from '../output/print.ts';

const SHELLS: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
};

const HELP = `
Made from the commands that this version has. To have it in every new shell, add to its configuration:
  ~/.bashrc                    source <(affiliate-mirror completion bash)
  ~/.zshrc, after compinit     source <(affiliate-mirror completion zsh)
  ~/.config/fish/config.fish   affiliate-mirror completion fish | source

A shell completes "affiliate-mirror", not "npx affiliate-mirror": the command must be in the PATH.`;

export function registerCompletion(root: Command, cli: Cli): void {
  root
    .command('completion')
    .description('print a script for the shell, which then completes commands and options')
    .addArgument(new Argument('<shell>', 'which shell').choices(Object.keys(SHELLS)))
    .addHelpText('after', HELP)
    .action((shell: string) =>
      cli.run(async () => {
        printData(SHELLS[shell]?.(readPlaces(root)) ?? '');
        return 0;
      }),
    );
}
