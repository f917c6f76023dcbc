import { kubectlOrFail } from '../../cluster/kubectl.ts';

/** What the kubelet counts for a function's container: the memory that it cannot take back. */
export interface FunctionMemory {
  function: string;
  workingSetBytes: number;
}

interface Summary {
  pods: {
    podRef: { name: string; namespace: string };
    containers?: { name: string; memory?: { workingSetBytes?: number } }[];
  }[];
}

/** The working set of every function's container that runs now, as `kubectl top` would say it. */
export async function memoryOfFunctions(): Promise<FunctionMemory[]> {
  const nodes = (await kubectlOrFail('get', 'nodes', '-o', 'name')).trim().split('\n');
  const summaries = await Promise.all(
    nodes.map(async (node) => {
      const path = `/api/v1/nodes/${node.replace('node/', '')}/proxy/stats/summary`;
      return JSON.parse(await kubectlOrFail('get', '--raw', path)) as Summary;
    }),
  );
  return summaries
    .flatMap(({ pods }) => pods)
    .filter(({ podRef }) => podRef.namespace === 'sync-operator')
    .flatMap(({ podRef, containers = [] }) =>
      containers
        .filter(({ name }) => name === 'function')
        .map(({ memory }) => ({
          function: podRef.name.replace(/-\d{5}-deployment-.*|-[0-9a-f]{8,10}-[a-z0-9]{5}$/, ''),
          workingSetBytes: memory?.workingSetBytes ?? Number.NaN,
        })),
    );
}
