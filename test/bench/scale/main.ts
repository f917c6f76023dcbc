import { KubeConfig } from '@kubernetes/client-node';
import { startApiServer } from '../../../deploy/local/api-server/api-server.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import { optionsOf, UsageError } from '../../../deploy/terminal/arguments.ts';
import { endWithReader, lookOf } from '../../../deploy/terminal/output.ts';
import { loadNow, machineOf } from '../machine.ts';
import { type Crowd, crowds } from './crowds.ts';
import { type Cost, type Memory, measureScale } from './measure.ts';
import { costTable, isGrown, memoryTable, mostGrowth, rowsOf } from './table.ts';

const help = `npm run bench:scale [-- options]

What an event and an audit cost each function beside few and many objects: requests, bytes and CPU, and the memory of its
process. The functions run as their pods run them, each in a process; what it asks an API server goes through a proxy that
counts. Nothing else runs: no Broker, no CDI.

Options
  --crowd NAME        ${Object.keys(crowds).join(', ')}; all by default
  --counts LIST       numbers of objects, rising, by commas; those of the crowd by default
  --kubeconfig FILE   a real kube-apiserver that holds nothing yet, for one crowd; a local one in this process by default
  --json              print the result as one JSON document
  --help              print this

Progress goes to stderr. Exit code: 0 if no event asks for more requests or bytes beside the most objects than ${mostGrowth} times as
many as beside the fewest, 1 otherwise, 2 for a wrong option.
`;

async function main(): Promise<number> {
  try {
    const options = optionsOf('npm run bench:scale --', process.argv.slice(2), {
      crowd: { type: 'string' },
      counts: { type: 'string' },
      kubeconfig: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    });
    if (options.help) {
      process.stdout.write(help);
      return 0;
    }
    const names = options.crowd === undefined ? Object.keys(crowds) : [options.crowd];
    const counts = options.counts?.split(',').map(Number);
    if (options.kubeconfig && names.length > 1)
      throw new UsageError('--kubeconfig: expected --crowd beside it, found none');
    if (counts?.some((count) => !Number.isInteger(count) || count < 10))
      throw new UsageError(`--counts: expected whole numbers from 10 on, found ${options.counts}`);
    endWithReader(process.stdout);
    const loadBefore = loadNow();
    const found: { costs: Cost[]; memory: Memory[] }[] = [];
    for (const name of names) {
      const crowd = crowds[name];
      if (!crowd) throw new UsageError(`--crowd: expected ${Object.keys(crowds).join(', ')}, found ${name}`);
      found.push(await measured(crowd, counts ?? crowd.counts, options.kubeconfig));
    }
    const [costs, memory] = [found.flatMap((one) => one.costs), found.flatMap((one) => one.memory)];
    const rows = rowsOf(costs);
    const machine = machineOf(loadBefore);
    const lines = [
      `${machine.processors}, Node ${machine.node}, load ${machine.load.map((load) => load.toFixed(1)).join(' before, ')} after.`,
      '',
      ...costTable(rows, lookOf(process.stdout)),
      '',
      ...memoryTable(memory, lookOf(process.stdout)),
    ];
    process.stdout.write(
      `${options.json ? JSON.stringify({ machine, costs, memory }, undefined, 2) : lines.join('\n')}\n`,
    );
    return rows.some(isGrown) ? 1 : 0;
  } catch (error) {
    process.stderr.write(`bench: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function measured(crowd: Crowd, counts: readonly number[], kubeconfig: string | undefined) {
  const say = (line: string) => process.stderr.write(`bench: ${line} ...\n`);
  const config = new KubeConfig();
  if (kubeconfig) {
    config.loadFromFile(kubeconfig);
    return measureScale({ crowd, counts, config, say });
  }
  const server = await startApiServer({ clock: realClock });
  try {
    config.loadFromString(server.kubeconfig());
    return await measureScale({ crowd, counts, config, say });
  } finally {
    await server.close();
  }
}

process.exit(await main());
