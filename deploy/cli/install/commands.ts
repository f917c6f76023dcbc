import { parseDurationMs } from '../../../shared/kubernetes/duration.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import { UsageError } from '../../terminal/arguments.ts';
import type { Body, Call, Option } from '../command.ts';
import { type Options, run } from './run.ts';

const waiting = {
  timeout: { type: 'string', value: 'TIME', about: 'the longest wait for one object, by default 5m' },
} as const satisfies Readonly<Record<string, Option>>;

const overlay = {
  type: 'string',
  value: 'NAME',
  about: 'serving, deployments, or the folder of your own kustomization; by default the installed one',
  values: ['serving', 'deployments'],
} as const satisfies Option;

const installing = {
  overlay,
  image: { type: 'string', value: 'IMAGE', about: 'the image of the functions, unless the overlay names one' },
  'allow-source': {
    type: 'string',
    value: 'LINE',
    about: "what templates and pipelines may download: a line of the policy's allowedSources; may be repeated",
    multiple: true,
  },
  'skip-check': { type: 'boolean', about: 'install even if something is missing' },
  ...waiting,
} as const satisfies Readonly<Record<string, Option>>;

const byDefault =
  'Without --overlay and an installed one: serving if the cluster has Knative Serving, else deployments.';
const image = '--image registry.example/ot-functions:0.1.0';
const source = "--allow-source 'https://s3.us-gov-west-1.amazonaws.com/vm-images/** s3-reader'";

/** Whether the cluster has what the functions need, and what installs, upgrades and removes them. */
export const bodies: Readonly<Record<Options['command'], Body>> = {
  check: bodyOf('check', {
    options: { overlay },
    details: [byDefault, 'Exit codes: 0 everything needed exists · 1 something is missing.'],
    examples: ['check', 'check --overlay deployments -o json'],
  }),
  install: bodyOf('install', {
    options: installing,
    details: ['Also continues an installation that was interrupted.', byDefault],
    examples: [`install ${image}`, `install ${image} ${source}`],
  }),
  upgrade: bodyOf('upgrade', {
    options: installing,
    details: [
      'Adds and changes objects, and removes those that this release no longer has. Without --image the image that runs',
      'stays.',
    ],
    examples: ['upgrade', `upgrade ${image}`],
  }),
  uninstall: bodyOf('uninstall', {
    options: {
      'delete-workspaces': { type: 'boolean', about: 'first delete all workspaces with everything in them' },
      'delete-machines': { type: 'boolean', about: 'then delete all machines, with their disks' },
      'delete-images': { type: 'boolean', about: 'then delete all images, with their volumes and snapshots' },
      'delete-crds': { type: 'boolean', about: 'finally delete the CRDs' },
      'finalizers-only': { type: 'boolean', about: 'only remove our finalizers, if the functions are already deleted' },
      ...waiting,
    },
    details: ['Machines, images, their snapshots and the CRDs stay. Refused while workspaces exist.'],
    examples: ['uninstall', 'uninstall --finalizers-only'],
  }),
};

function bodyOf(command: Options['command'], help: Pick<Body, 'options' | 'details' | 'examples'>): Body {
  return { words: '', ...help, stopsAtOnce: true, run: (call) => runOn(call, command) };
}

async function runOn(call: Call, command: Options['command']) {
  const options = readOptions(command, call);
  return run({ ...(await call.cluster()), say: call.say, timeoutMs: options.timeoutMs }, options);
}

/** Reads the values of the options; throws a UsageError that says what was expected and found. */
export function readOptions(
  command: Options['command'],
  { text, is, texts }: Pick<Call, 'text' | 'is' | 'texts'>,
): Options {
  const allowSource = texts('allow-source');
  const [fault] =
    allowSource.length > 0 ? parsePolicy({ data: { allowedSources: allowSource.join('\n') } }).faults : [];
  if (fault) throw new UsageError(`--allow-source: expected ${fault.expected}, found ${fault.found}`);
  const timeout = text('timeout') ?? '5m';
  const timeoutMs = parseDurationMs(timeout);
  if (timeoutMs === undefined) throw new UsageError(`--timeout: expected a time such as 90s or 5m, found ${timeout}`);
  return {
    command,
    timeoutMs,
    overlay: text('overlay'),
    image: text('image'),
    allowSource,
    skipCheck: is('skip-check'),
    deleteWorkspaces: is('delete-workspaces'),
    deleteMachines: is('delete-machines'),
    deleteImages: is('delete-images'),
    deleteCrds: is('delete-crds'),
    finalizersOnly: is('finalizers-only'),
  };
}
