import { UsageError } from '../terminal/arguments.ts';
import { type Body, exit } from './command.ts';
import { completionScript, shells } from './completion-script.ts';

/** Prints the completion script of a shell. */
export const completion: Body = {
  words: shells.join('|'),
  options: {},
  details: [
    'bash: source <(ot-functions completion bash) · zsh: the same · fish: ot-functions completion fish | source',
  ],
  examples: ['completion bash > ~/.local/share/bash-completion/completions/ot-functions'],
  complete: async (before) => (before.length === 0 ? shells : []),
  run: async ({ words }) => {
    const shell = shells.find((name) => name === words[0]);
    if (!shell || words.length > 1)
      throw new UsageError(`expected one of ${shells.join(', ')}, found ${words.join(' ') || 'nothing'}`);
    const script = completionScript(shell);
    return { lines: [script], json: { shell, script }, code: exit.done };
  },
};
