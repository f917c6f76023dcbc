import { expect } from 'vitest';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from './images.ts';
import {
  aCluster,
  aMachine,
  componentOf,
  controlNet,
  createWorkspace,
  listening,
  onControlNet,
  policyOf,
  untilWorkspace,
} from './workspaces.ts';
import type { Story, World } from './world.ts';

/** How often compose-workspace made each kind of request, "list pods", while this many labs were created at once. */
type Calls = ReadonlyMap<string, number>;

/** A lab of ten components: its Namespace, one image, and two of each other kind. */
const ofTen = (world: World) => ({
  networks: [controlNet, { name: 'capture-net', cidr: '10.10.1.0/24' }],
  volumes: [
    { name: 'config', size: '1Gi' },
    { name: 'spare', size: '1Gi' },
  ],
  vms: ['attacker', 'target'].map((name, index) =>
    aMachine(world, name, 'base', { interfaces: onControlNet(`10.10.0.${index + 11}/24`) }),
  ),
  containerClusters: ['dns', 'ansible'].map((name, index) =>
    aCluster(name, { interfaces: [{ network: 'capture-net', ipAddress: `10.10.1.${index + 11}/24` }] }, listening),
  ),
});

/** Labs of ten components are created at once, on one missing image: all get Ready, with one download. */
export const manyWorkspaces = (count: number, withinMs: number): Story => ({
  name: `${count} workspaces of ten components each, at once`,
  policy: policyOf,
  run: async (world) => {
    await putImage(world, 'base');
    const names = Array.from({ length: count }, (_, index) => `lab-${index}`);
    await Promise.all(names.map((name) => createWorkspace(world, name, ofTen(world))));
    for (const name of names) {
      const lab = await untilWorkspace(world, name, 'Ready', withinMs);
      expect(lab.status?.ready).toBe('10/10');
      expect(componentOf(lab, 'Namespace', `ws-${name}`)?.phase).toBe('Ready');
    }
    expect(await world.kube.list(VMDiskImage, { namespace: world.namespace })).toHaveLength(1);
    expect(world.history.starts()).toHaveLength(1);
  },
});

/** Fails if each of twenty labs at once costs more calls than each of five. */
export async function expectFlatCost(callsOf: (count: number) => Promise<Calls>): Promise<void> {
  const runs: { count: number; calls: Calls }[] = [];
  for (const count of [5, 20]) runs.push({ count, calls: await callsOf(count) });
  const line = (what: string, perLab: (run: (typeof runs)[number]) => number) =>
    `${runs.map((run) => perLab(run).toFixed(1).padStart(7)).join(' ')}  ${what}`;
  const kinds = [...new Set(runs.flatMap(({ calls }) => [...calls.keys()]))].sort();
  const sum = ({ count, calls }: (typeof runs)[number]) =>
    [...calls.values()].reduce((all, more) => all + more, 0) / count;
  console.log(
    [
      `${runs.map(({ count }) => `of ${count}`.padStart(7)).join(' ')}  calls of compose-workspace for a lab`,
      ...kinds.map((kind) => line(kind, ({ count, calls }) => (calls.get(kind) ?? 0) / count)),
      line('all of them', sum),
    ].join('\n'),
  );
  const [few = 0, many = 0] = runs.map(sum);
  // Events that arrive together share a reconcile: how many do depends on what else the machine does.
  expect(many).toBeLessThan(few * 1.25);
}
