import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { optionsOf, UsageError } from '../terminal/arguments.ts';
import { CommandError, run } from './command.ts';
import { cluster, steps } from './steps.ts';
import { lackingTools } from './tools.ts';

const help = `npm run kind:up

Makes a cluster of kind on this machine, with Docker: Knative with Kourier, CDI, KubeVirt, the snapshotter, a storage
driver that keeps volumes on the node, and our functions from this checkout. About ten minutes the first time, most of
it downloads. Run again, it continues where it stopped, and updates changed functions in the cluster.

Options
  --help   print this

Exit code: 0, 1 if a tool is missing or a step failed, 2 for a wrong option.
`;

async function main(args: readonly string[]): Promise<number> {
  const { help: isHelp } = optionsOf('npm run kind:up --', args, { help: { type: 'boolean', short: 'h' } });
  if (isHelp) {
    process.stdout.write(help);
    return 0;
  }
  const lacking = await lackingTools(run);
  for (const line of lacking) console.error(line);
  if (lacking.length > 0) return 1;
  await takeSteps();
  console.log(`
Ready. Try:
  kubectl --context ${cluster.context} get vmdiskimages -A --watch
  kubectl --context ${cluster.context} get virtualmachines.pelotech.ot -A
  kubectl --context ${cluster.context} -n sync-operator get brokers,triggers,services.serving.knative.dev
Take it down with: npm run kind:down`);
  return 0;
}

async function takeSteps(): Promise<void> {
  const temporary = await mkdtemp(join(tmpdir(), 'kind-up-'));
  try {
    const all = steps(temporary);
    for (const [index, { title, act }] of all.entries()) {
      process.stdout.write(`[${index + 1}/${all.length}] ${title} … `);
      const begunMs = Date.now();
      const said = await act(run);
      console.log(`${said ?? 'done'} (${Math.round((Date.now() - begunMs) / 1000)} s)`);
    }
  } finally {
    await rm(temporary, { recursive: true });
  }
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof UsageError || error instanceof CommandError)) throw error;
  console.error(`\n${error.message}`);
  if (error instanceof CommandError) console.error('The finished steps stay: correct the problem and run it again.');
  return error instanceof UsageError ? 2 : 1;
});
