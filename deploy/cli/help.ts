import type { Command, Listed, Option } from './command.ts';
import { formats } from './format.ts';

/** Only for commands about namespaced objects; in others it would suggest a limit that does not exist. */
export const namespaceOptions = {
  namespace: { type: 'string', short: 'n', value: 'NS', about: 'in this namespace; by default that of the context' },
  'all-namespaces': { type: 'boolean', short: 'A', about: 'in all namespaces' },
} as const satisfies Readonly<Record<string, Option>>;

/** The options of every command. */
const commonOptions = {
  output: {
    type: 'string',
    short: 'o',
    value: 'FORMAT',
    about: 'wide (whole lines on a terminal), json or yaml; lists of objects: name, too',
    values: formats,
  },
  json: { type: 'boolean', about: 'the same as -o json' },
  kubeconfig: { type: 'string', value: 'FILE', about: 'which cluster; by default the one that kubectl uses' },
  context: { type: 'string', value: 'NAME', about: 'which context of the kubeconfig' },
  as: { type: 'string', value: 'USER', about: 'act as this user' },
  'as-group': { type: 'string', value: 'GROUP', about: 'a group of that user; may be repeated', multiple: true },
  help: { type: 'boolean', short: 'h', about: 'this text' },
} as const satisfies Readonly<Record<string, Option>>;

/** The options of commands that list objects. */
const listOptions = {
  watch: { type: 'boolean', short: 'w', about: 'again with each change, in a pipe a line for each; until Ctrl-C' },
} as const satisfies Readonly<Record<string, Option>>;

export const optionsOf = ({ options, watches }: Pick<Command, 'options' | 'watches'>) => ({
  ...options,
  ...(watches ? listOptions : {}),
  ...commonOptions,
});

/** What `--help` prints without a command. */
export const overview = (commands: readonly Listed[], called: string) =>
  [
    `${called} COMMAND [OPTIONS]`,
    '',
    'Shows and manages the disk images, machines and workspaces of a cluster with ot-functions.',
    '',
    ...columns(commands.map(({ name, about }) => [name, about])),
    '',
    'Options of all commands',
    ...optionLines(commonOptions),
    '',
    'Options of commands about namespaced objects',
    ...optionLines(namespaceOptions),
    '',
    'Exit codes: 0 done · 1 something is Failed, wrong or refused · 2 wrong usage · 3 the cluster cannot be',
    'reached or denies access · 4 not found · 5 not Ready yet · 124 timed out · 130 ended by Ctrl-C',
    '',
    `${called} COMMAND --help describes a command, ${called} --version is the release of this one.`,
  ].join('\n');

export function helpOf(command: Command, called: string) {
  const { name, about, words, details, examples } = command;
  return [
    [called, name, words, '[OPTIONS]'].filter(Boolean).join(' '),
    '',
    `${about[0]?.toUpperCase()}${about.slice(1)}.`,
    ...(details.length > 0 ? ['', ...details] : []),
    '',
    'Options',
    ...optionLines(optionsOf(command)),
    '',
    'Examples',
    ...examples.map((example) => `  ${called} ${example}`),
  ].join('\n');
}

const optionLines = (options: Readonly<Record<string, Option>>) =>
  columns(
    Object.entries(options).map(([name, { short, value, about }]) => [
      `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`,
      about,
    ]),
  );

function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', ...rest]) => `  ${first.padEnd(width)}  ${rest.join(' ')}`);
}
