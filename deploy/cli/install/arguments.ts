import type { ParseArgsOptionsConfig } from 'node:util';
import { parseDurationMs } from '../../../shared/kubernetes/duration.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import { optionsOf, UsageError } from '../../terminal/arguments.ts';

const common = {
  kubeconfig: { type: 'string' },
  context: { type: 'string' },
  timeout: { type: 'string', default: '5m' },
  help: { type: 'boolean', default: false },
} as const satisfies ParseArgsOptionsConfig;

const installing = {
  ...common,
  overlay: { type: 'string' },
  image: { type: 'string' },
  'allow-source': { type: 'string', multiple: true },
  'skip-check': { type: 'boolean', default: false },
} as const satisfies ParseArgsOptionsConfig;

const commands = {
  check: { ...common, overlay: { type: 'string' }, json: { type: 'boolean', default: false } },
  install: installing,
  upgrade: installing,
  uninstall: {
    ...common,
    'delete-workspaces': { type: 'boolean', default: false },
    'delete-machines': { type: 'boolean', default: false },
    'delete-images': { type: 'boolean', default: false },
    'delete-crds': { type: 'boolean', default: false },
    'finalizers-only': { type: 'boolean', default: false },
  },
} as const satisfies Record<string, ParseArgsOptionsConfig>;

type CommandName = keyof typeof commands;

export const usage = `npm run cluster -- <command> [options]

  check       reports what the cluster has and lacks (--json for programs)
  install     installs, or continues an interrupted installation
  upgrade     the same: adds and changes objects, and removes those no longer generated
  uninstall   removes it; machines, images, their snapshots and the CRDs stay; refused while workspaces exist

  --kubeconfig <file>  --context <name>   which cluster; by default the one that kubectl uses
  --overlay <name>     serving, deployments, or the folder of your own kustomization; by default the installed
                       overlay, else serving if Knative Serving is installed, else deployments
  --image <name>       the image of the functions, e.g. registry.example/ot-functions:1.2.3, unless the overlay names one
  --allow-source <line>  what templates and pipelines may download, as a line of the policy's allowedSources; several times
                       for several: 'https://s3.us-gov-west-1.amazonaws.com/vm-images/** s3-reader'
  --timeout <time>     the longest wait for one object (5m)
  --skip-check         install even if something is missing
  --delete-workspaces  uninstall: first delete all workspaces with everything in them
  --delete-machines    uninstall: then delete all machines, with their disks
  --delete-images      uninstall: then delete all images, with their volumes and snapshots
  --delete-crds        uninstall: finally delete the CRDs
  --finalizers-only    uninstall: only remove our finalizers, if the functions are already deleted

Exit codes: 0 done · 1 something is missing, or it failed · 2 wrong usage`;

/** The parsed command line. */
export interface Options {
  command: CommandName;
  kubeconfig: string | undefined;
  context: string | undefined;
  timeoutMs: number;
  overlay: string | undefined;
  image: string | undefined;
  /** Lines to add to the policy's allowedSources. */
  allowSource: readonly string[];
  json: boolean;
  skipCheck: boolean;
  deleteWorkspaces: boolean;
  deleteMachines: boolean;
  deleteImages: boolean;
  deleteCrds: boolean;
  finalizersOnly: boolean;
}

/** Parses a command line; undefined if it asks for help. Throws a UsageError that says what was expected and found. */
export function readOptions(args: readonly string[]): Options | undefined {
  const [command = '', ...rest] = args;
  if (command === 'help' || args.includes('--help')) return undefined;
  if (!isCommand(command)) {
    throw new UsageError(`expected one of ${Object.keys(commands).join(', ')}, found ${command || 'nothing'}`);
  }
  const known: ParseArgsOptionsConfig = commands[command];
  const found = optionsOf(command, rest, known) as Record<string, string | boolean | string[] | undefined>;
  const text = (name: string) => (typeof found[name] === 'string' ? found[name] : undefined);
  const allowSource = [found['allow-source'] ?? []].flat() as string[];
  const [fault] =
    allowSource.length > 0 ? parsePolicy({ data: { allowedSources: allowSource.join('\n') } }).faults : [];
  if (fault) throw new UsageError(`--allow-source: expected ${fault.expected}, found ${fault.found}`);
  const timeoutMs = parseDurationMs(text('timeout') ?? '');
  if (timeoutMs === undefined)
    throw new UsageError(`--timeout: expected a time such as 90s or 5m, found ${found.timeout}`);
  return {
    command,
    timeoutMs,
    kubeconfig: text('kubeconfig'),
    context: text('context'),
    overlay: text('overlay'),
    image: text('image'),
    allowSource,
    json: found.json === true,
    skipCheck: found['skip-check'] === true,
    deleteWorkspaces: found['delete-workspaces'] === true,
    deleteMachines: found['delete-machines'] === true,
    deleteImages: found['delete-images'] === true,
    deleteCrds: found['delete-crds'] === true,
    finalizersOnly: found['finalizers-only'] === true,
  };
}

const isCommand = (text: string): text is CommandName => Object.hasOwn(commands, text);
