import { UsageError } from '../terminal/arguments.ts';
import { type Body, exit, type Listed, loaded } from './command.ts';
import { completionScript, shells } from './completion-script.ts';

/** The command `completion`: completes these commands and itself. */
export function completionOf(commands: readonly Listed[]): Listed {
  const body: Body = {
    words: shells.join('|'),
    options: {},
    details: [
      'bash: source <(ot-functions completion bash) · zsh: the same · fish: ot-functions completion fish | source',
    ],
    examples: ['completion bash > ~/.local/share/bash-completion/completions/ot-functions'],
    completions: shells,
    run: async ({ words }) => {
      const shell = shells.find((name) => name === words[0]);
      if (!shell || words.length > 1)
        throw new UsageError(`expected one of ${shells.join(', ')}, found ${words.join(' ') || 'nothing'}`);
      const script = completionScript(shell, await Promise.all([...commands, completion].map(loaded)));
      return { lines: [script], json: { shell, script }, code: exit.done };
    },
  };
  const completion: Listed = {
    name: 'completion',
    about: 'a script that completes all of this in a shell',
    load: async () => body,
  };
  return completion;
}
