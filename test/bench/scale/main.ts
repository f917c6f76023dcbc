import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { KubeConfig } from '@kubernetes/client-node';
import { startApiServer } from '../../../deploy/local/api-server/api-server.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import { optionsOf, UsageError } from '../../../deploy/terminal/arguments.ts';
import { endWithReader } from '../../../deploy/terminal/output.ts';
import { kubeClient } from '../../../shared/runtime/kube.ts';
import { whatIsInTheWay } from '../../cluster/installation.ts';
import { kubectlOrFail } from '../../cluster/kubectl.ts';
import { loadNow, machineOf } from '../machine.ts';
import { clear } from './clear.ts';
import type { Crowd } from './crowd.ts';
import { crowds } from './crowds.ts';
import { type Cost, type Memory, measureScale } from './measure.ts';
import { auditTable, blocks, eventTable, isGrown, longestBlockMs, memoryTable, mostGrowth, rowsOf } from './table.ts';

const help = `npm run bench:scale [-- options]

What an event and an audit cost each function beside few and many objects: requests, bytes and CPU, and the memory of its
process. The functions run as their pods run them, each in a process that has the memory of its container and asks over TLS;
what it asks goes through a proxy that counts. Nothing else of ours runs: no Broker, no CDI; OpenStack and the store of images
are simulated here, and "elsewhere" is how many requests they had. dead-letters has no row, for it reads nothing that grows: Triggers,
a Broker and Events of its own namespace. Prints tables in Markdown.

Options
  --crowd LIST     some of ${Object.keys(crowds).join(', ')}; all by default
  --counts LIST    numbers of objects, rising, by commas; those of the crowd by default
  --cluster        beside a real API server, on a cluster made for it (test/cluster/on-own-cluster), or on that of KUBECONFIG if that is
                   set: one that has nothing of ours yet and whose controller manager deletes namespaces. By default beside a local
                   API server in this process
  --json           print the result as one JSON document
  --help           print this

Progress goes to stderr. Exit code: 0 if no event asks for more requests or bytes beside the most objects than ${mostGrowth} times as
many as beside the fewest, except for those that concern all of them, and nothing blocks a function for more than ${longestBlockMs} ms;
1 otherwise, 2 for a wrong option.
`;

async function main(): Promise<number> {
  try {
    const options = optionsOf('npm run bench:scale --', process.argv.slice(2), {
      crowd: { type: 'string' },
      counts: { type: 'string' },
      cluster: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    });
    if (options.help) {
      process.stdout.write(help);
      return 0;
    }
    const names = options.crowd?.split(',') ?? Object.keys(crowds);
    const counts = options.counts?.split(',').map(Number);
    const unknown = names.find((name) => !Object.hasOwn(crowds, name));
    if (unknown !== undefined)
      throw new UsageError(`--crowd: expected ${Object.keys(crowds).join(', ')}, found ${unknown}`);
    if (counts?.some((count) => !Number.isInteger(count) || count < 10))
      throw new UsageError(`--counts: expected whole numbers from 10 on, found ${options.counts}`);
    endWithReader(process.stdout);
    if (options.cluster && process.env.KUBECONFIG === undefined) return await onOwnCluster();
    const loadBefore = loadNow();
    const chosen = Object.entries(crowds).filter(([name]) => names.includes(name));
    const { apiServer, found } = await (options.cluster ? onCluster : locally)(chosen, counts);
    const [costs, memory] = [found.flatMap((one) => one.costs), found.flatMap((one) => one.memory)];
    const rows = rowsOf(costs);
    const machine = machineOf(loadBefore);
    const load = machine.load.map((load) => load.toFixed(1)).join(' before, ');
    const lines = [
      `${apiServer}, ${machine.processors}, Node ${machine.node}, load ${load} after.`,
      '',
      ...eventTable(rows),
      '',
      ...auditTable(rows),
      '',
      ...memoryTable(memory),
    ];
    const json = () => JSON.stringify({ apiServer, machine, costs, memory }, undefined, 2);
    process.stdout.write(`${options.json ? json() : lines.join('\n')}\n`);
    return rows.some((row) => isGrown(row) || blocks(row)) ? 1 : 0;
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

/** Runs the same again on a cluster of its own. */
const onOwnCluster = (): Promise<number> => {
  const script = fileURLToPath(new URL('../../cluster/on-own-cluster', import.meta.url));
  const command = ['node', fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(script, command, { stdio: 'inherit' });
  return new Promise((resolve, reject) => child.once('error', reject).once('exit', (code) => resolve(code ?? 1)));
};

const say = (line: string) => process.stderr.write(`bench: ${line} ...\n`);

type Chosen = [name: string, crowd: Crowd][];
interface Found {
  apiServer: string;
  found: { costs: Cost[]; memory: Memory[] }[];
}

/** Each crowd has an API server of its own. */
async function locally(chosen: Chosen, counts: readonly number[] | undefined): Promise<Found> {
  const found: Found['found'] = [];
  for (const [, crowd] of chosen) {
    const server = await startApiServer({ clock: realClock });
    try {
      const config = new KubeConfig();
      config.loadFromString(server.kubeconfig());
      found.push(await measureScale({ crowd, counts: counts ?? crowd.counts, config, say }));
    } finally {
      await server.close();
    }
  }
  return { apiServer: 'Local API server', found };
}

async function onCluster(chosen: Chosen, counts: readonly number[] | undefined): Promise<Found> {
  const [inTheWay] = await whatIsInTheWay();
  if (inTheWay) throw new Error(`expected a cluster that has nothing of ours, found ${inTheWay}`);
  const config = new KubeConfig();
  config.loadFromDefault();
  const { gitVersion } = JSON.parse(await kubectlOrFail('get', '--raw=/version')) as { gitVersion: string };
  const found: Found['found'] = [];
  for (const [index, [, crowd]] of chosen.entries()) {
    if (index > 0) {
      say('deleting them');
      await clear(kubeClient(config));
    }
    found.push(await measureScale({ crowd, counts: counts ?? crowd.counts, config, say }));
  }
  return { apiServer: `kube-apiserver ${gitVersion}`, found };
}

process.exit(await main());
