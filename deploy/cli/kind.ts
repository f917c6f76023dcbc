import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError, run } from '../kind/run.ts';
import { cluster, steps } from '../kind/steps.ts';
import { lackingTools } from '../kind/tools.ts';
import { isBundled } from '../project-folder.ts';
import { UsageError } from '../terminal/arguments.ts';
import { type Body, type Call, exit, type Outcome, Refused } from './command.ts';

const directions = ['up', 'down'] as const;

/** Makes a cluster of kind on this machine and installs the functions of this checkout, or deletes it. */
export const kind: Body = {
  words: directions.join('|'),
  options: {},
  details: [
    'up: with Docker, a cluster with Knative, Kourier, CDI, KubeVirt, the snapshotter and a storage driver that keeps volumes on',
    'the node, and the functions of this checkout. About ten minutes the first time, most of it downloads. Run again, it',
    'continues where it stopped, and updates changed functions in the cluster.',
    'down: deletes that cluster with everything in it; without a cluster it does nothing.',
  ],
  examples: ['kind up', 'kind down'],
  complete: async (before) => (before.length === 0 ? directions : []),
  stopsAtOnce: true,
  run: async ({ words, say, text, texts }) => {
    const direction = directions.find((known) => known === words[0]);
    if (!direction || words.length > 1)
      throw new UsageError(`expected one of ${directions.join(', ')}, found ${words.join(' ') || 'nothing'}`);
    const [other] = ['context', 'kubeconfig', 'as', 'as-group'].filter((name) => text(name) ?? texts(name)[0]);
    if (other) throw new UsageError(`expected no --${other}: the cluster is always ${cluster.name}`);
    if (isBundled)
      throw new Refused('expected a checkout of the project, for kind builds the image from it, found none');
    const lacking = await lackingTools(run, direction === 'down' ? ['docker', 'kind'] : undefined);
    if (lacking.length > 0) throw new Refused(lacking.join('; '));
    return direction === 'up' ? up(say) : down();
  },
};

async function up(say: Call['say']): Promise<Outcome> {
  const temporary = await mkdtemp(join(tmpdir(), 'kind-up-'));
  try {
    const all = steps(temporary);
    for (const [index, { title, act }] of all.entries()) {
      say(`[${index + 1}/${all.length}] ${title}`);
      const begunMs = Date.now();
      const said = await act(run);
      say(`  ${said ?? 'done'} (${Math.round((Date.now() - begunMs) / 1000)} s)`);
    }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new Refused(`${error.message}\nThe finished steps stay: correct the problem and run it again.`);
  } finally {
    await rm(temporary, { recursive: true });
  }
  const lines = [
    'Ready. Try:',
    `  kubectl --context ${cluster.context} get vmdi,otvm,otws -A`,
    `  ot-functions status -A --context ${cluster.context}`,
    'Take it down with: ot-functions kind down',
  ];
  return { lines, json: { cluster: cluster.name, context: cluster.context }, code: exit.done };
}

async function down(): Promise<Outcome> {
  await run('kind', ['delete', 'cluster', '--name', cluster.name]).catch((error: unknown) => {
    throw error instanceof CommandError ? new Refused(error.message) : error;
  });
  return { lines: [`The cluster ${cluster.name} is deleted.`], json: { deleted: cluster.name }, code: exit.done };
}
