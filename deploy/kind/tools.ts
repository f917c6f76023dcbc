import type { Run } from './run.ts';
import { leastKind } from './versions.ts';

interface Tool {
  name: string;
  args: readonly string[];
  /** What to do if it is missing. */
  remedy: string;
}

const tools: readonly Tool[] = [
  {
    name: 'docker',
    args: ['info', '--format', '{{.ServerVersion}}'],
    remedy: 'install Docker and start it (docs.docker.com/get-docker)',
  },
  { name: 'kind', args: ['version'], remedy: 'install kind (kind.sigs.k8s.io/docs/user/quick-start)' },
  {
    name: 'kubectl',
    args: ['version', '--client'],
    remedy: 'install kubectl (kubernetes.io/docs/tasks/tools)',
  },
  { name: 'git', args: ['--version'], remedy: 'install git: the storage driver is installed from a checkout' },
  { name: 'bash', args: ['--version'], remedy: 'install bash: the storage driver is installed by a script' },
  { name: 'curl', args: ['--version'], remedy: 'install curl: the script of the storage driver uses it' },
];

/** The tools that this machine lacks for kind, a line each: what was expected, what was found, what to do. */
export async function lackingTools(run: Run, names: readonly string[] = tools.map(({ name }) => name)) {
  const found = await Promise.all(tools.filter(({ name }) => names.includes(name)).map((tool) => lackOf(run, tool)));
  return found.filter((line) => line !== undefined);
}

async function lackOf(run: Run, { name, args, remedy }: Tool): Promise<string | undefined> {
  let out: string;
  try {
    out = await run(name, args);
  } catch (error) {
    const found = error instanceof Error ? error.message.split('\n').at(-1) : String(error);
    return `expected ${name} to answer "${[name, ...args].join(' ')}", found: ${found}; ${remedy}`;
  }
  return name === 'kind' ? tooOldKind(out) : undefined;
}

function tooOldKind(out: string): string | undefined {
  const found = /v(\d+)\.(\d+)\.(\d+)/.exec(out)?.slice(1, 4).map(Number);
  if (found && compare(found, leastKind) >= 0) return undefined;
  return `expected kind ${leastKind.join('.')} or later, found ${out.trim() || 'no version'}; upgrade it (kind.sigs.k8s.io)`;
}

const compare = (a: readonly number[], b: readonly number[]) =>
  a.map((number, index) => number - (b[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
