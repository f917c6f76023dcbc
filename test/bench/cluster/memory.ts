import { kubectlOrFail } from '../../cluster/kubectl.ts';

/** What the kubelet counts for containers of one part of an installation: the memory that it cannot take back. */
export interface PartMemory {
  /** A function, or what all containers of that name are. */
  part: string;
  isFunction: boolean;
  containers: number;
  workingSetBytes: number;
}

interface Summary {
  pods: {
    podRef: { name: string; namespace: string };
    containers?: { name: string; memory?: { workingSetBytes?: number } }[];
  }[];
}

/** The working set of each function, and of all source adapters and queue-proxies together, as `kubectl top` would say it. */
export async function memoryByPart(): Promise<PartMemory[]> {
  const nodes = (await kubectlOrFail('get', 'nodes', '-o', 'name')).trim().split('\n');
  const summaries = await Promise.all(
    nodes.map(async (node) => {
      const path = `/api/v1/nodes/${node.replace('node/', '')}/proxy/stats/summary`;
      return JSON.parse(await kubectlOrFail('get', '--raw', path)) as Summary;
    }),
  );
  const containers = summaries
    .flatMap(({ pods }) => pods)
    .filter(({ podRef }) => podRef.namespace === 'sync-operator')
    .flatMap(({ podRef, containers: all = [] }) =>
      all.map(({ name, memory }) => {
        const isFunction = name === 'function';
        const part = isFunction ? podRef.name.replace(/-\d{5}-deployment-.*|-[0-9a-f]{8,10}-[a-z0-9]{5}$/, '') : name;
        return { part, isFunction, bytes: memory?.workingSetBytes ?? Number.NaN };
      }),
    );
  return [...Map.groupBy(containers, ({ part }) => part)].map(([part, of]) => ({
    part,
    isFunction: of.some(({ isFunction }) => isFunction),
    containers: of.length,
    workingSetBytes: of.reduce((sum, { bytes }) => sum + bytes, 0),
  }));
}
