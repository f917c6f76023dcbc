import type { Command, Listed, Option } from './command.ts';

/** Only for commands about namespaced objects; in others it would suggest a limit that does not exist. */
export const namespaceOption = {
  namespace: { type: 'string', short: 'n', value: 'NS', about: 'only in this namespace' },
} as const satisfies Readonly<Record<string, Option>>;

/** The options of every command. */
export const commonOptions = {
  json: { type: 'boolean', about: 'JSON, for scripts' },
  kubeconfig: { type: 'string', value: 'FILE', about: 'which cluster; by default the one that kubectl uses' },
  context: { type: 'string', value: 'NAME', about: 'which context of the kubeconfig' },
  help: { type: 'boolean', short: 'h', about: 'this text' },
} as const satisfies Readonly<Record<string, Option>>;

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
    'Option of commands that take a name',
    ...optionLines(namespaceOption),
    '',
    'Exit codes: 0 done · 1 something is Failed, wrong or refused · 2 wrong usage · 3 the cluster cannot be',
    'reached or denies access · 4 not found · 5 not Ready yet · 124 timed out · 130 ended by Ctrl-C',
    '',
    `${called} COMMAND --help describes a command.`,
  ].join('\n');

/** What `COMMAND --help` prints. */
export const helpOf = ({ name, about, words, options, details, examples }: Command, called: string) =>
  [
    [called, name, words, '[OPTIONS]'].filter(Boolean).join(' '),
    '',
    `${about[0]?.toUpperCase()}${about.slice(1)}.`,
    ...(details.length > 0 ? ['', ...details] : []),
    '',
    'Options',
    ...optionLines({ ...options, ...commonOptions }),
    '',
    'Examples',
    ...examples.map((example) => `  ${called} ${example}`),
  ].join('\n');

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
