import project from '../../package.json' with { type: 'json' };
import { operatorNamespace } from '../../shared/operator.ts';
import { type Body, exit } from './command.ts';
import { type AnyObject, workloads } from './install/kinds.ts';
import { imagesIn } from './install/manifests.ts';
import { listOf } from './install/wait.ts';

/** Which release this command is, and which the functions of the cluster are: their images say it, but a local cluster has none. */
export const version: Body = {
  words: '',
  options: {},
  details: ['ot-functions --version prints the first line, and needs no cluster.'],
  examples: ['version', 'version -o json'],
  run: async ({ cluster }) => {
    const { kube, read } = await cluster();
    const found = await Promise.all(workloads.map((kind) => listOf(kube, kind, { namespace: operatorNamespace })));
    const images = imagesOf(found.flat());
    const { platform } = ((await read('/version')) ?? {}) as { platform?: string };
    const inProcess = platform === 'local' ? 'those of its checkout, in the process of npm start' : '';
    const functions = images.join(', ') || inProcess;
    return {
      lines: [`ot-functions ${project.version}`, ...(functions ? [`functions of the cluster: ${functions}`] : [])],
      json: { version: project.version, images },
      code: exit.done,
    };
  },
};

/** The images of these workloads, each once. */
export const imagesOf = (workloads: readonly AnyObject[]): string[] => [...new Set(workloads.flatMap(imagesIn))].sort();
