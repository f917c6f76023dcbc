import type { Command } from './command.ts';
import { commonOptions } from './help.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

/** The completion script of a shell for these commands. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return { bash, zsh, fish }[shell](commands);
}

const optionsOf = ({ options }: Command) => Object.keys({ ...options, ...commonOptions }).map((name) => `--${name}`);
const wordsOf = ({ completions = [] }: Command) => [...completions];

function bash(commands: readonly Command[]): string {
  const cases = commands.map(
    (command) => `    ${command.name}) words="${[...wordsOf(command), ...optionsOf(command)].join(' ')}" ;;`,
  );
  return `_ot_functions() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${commands.map(({ name }) => name).join(' ')} help"
  else case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _ot_functions ot-functions`;
}

function zsh(commands: readonly Command[]): string {
  const cases = commands.map(
    (command) => `    ${command.name}) compadd -- ${[...wordsOf(command), ...optionsOf(command)].join(' ')} ;;`,
  );
  return `#compdef ot-functions
_ot_functions() {
  if (( CURRENT == 2 )); then
    compadd -- ${commands.map(({ name }) => name).join(' ')} help
  else case "$words[2]" in
${cases.join('\n')}
  esac; fi
}
compdef _ot_functions ot-functions`;
}

function fish(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const on = `complete -c ot-functions -n '__fish_seen_subcommand_from ${command.name}'`;
    const options = Object.entries({ ...command.options, ...commonOptions }).map(
      ([name, { about }]) => `${on} -l ${name} -d ${quoted(about)}`,
    );
    const words = wordsOf(command);
    return [
      `complete -c ot-functions -n __fish_use_subcommand -a ${command.name} -d ${quoted(command.about)}`,
      ...(words.length > 0 ? [`${on} -a '${words.join(' ')}'`] : []),
      ...options,
    ];
  });
  return ['complete -c ot-functions -f', ...lines].join('\n');
}

const quoted = (text: string) => `'${text.replaceAll("'", "\\'")}'`;
