import { holdersOf, leaseName } from '../../../shared/images/slots.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { realClock } from '../clock.ts';
import { follow } from '../eventing/follow.ts';
import { reflect } from '../eventing/reflect.ts';
import { type ClusterView, clusterView, type Fact } from './cluster-view.ts';
import { goneFact, heldFacts, machineFacts, machineGoneFact, newFacts } from './new-facts.ts';

interface WatchOptions {
  kube: Kube;
  signal: AbortSignal;
  /** How much of an object has been sent in all, and how large it is; undefined for an object that is not counted here. */
  traffic(url: string): { sentBytes: number; size: number } | undefined;
  onFact(fact: Fact): void;
}

/** How many facts are kept for the display. */
const factsKept = 50;

/** Watches all images and machines; the function it resolves with tells how they stand. */
export async function watchCluster({ kube, signal, traffic, onFact }: WatchOptions): Promise<() => ClusterView> {
  const context = { clock: realClock, signal };
  const images = new Map<string, VMDiskImage>();
  const machines = new Map<string, VirtualMachine>();
  const leases = new Map<string, Lease>();
  const facts: Fact[] = [];
  /** How much of its object had been sent when the attempt of an image began, by uid, revision and attempt. */
  const sentBefore = new Map<string, number>();
  const tell = (fact: Fact) => {
    facts.push(fact);
    facts.splice(0, facts.length - factsKept);
    onFact(fact);
  };
  const see = (image: VMDiskImage) => {
    const before = images.get(image.metadata.uid);
    images.set(image.metadata.uid, image);
    if (image.status?.phase === 'Syncing' && before?.status?.phase !== 'Syncing')
      sentBefore.set(image.metadata.uid, traffic(image.spec.url)?.sentBytes ?? 0);
    newFacts(before, image).forEach(tell);
    heldFacts(before, image, Date.now()).forEach(tell);
  };
  const miss = (image: VMDiskImage) => {
    images.delete(image.metadata.uid);
    sentBefore.delete(image.metadata.uid);
    tell(goneFact(image, Date.now()));
  };
  const seeMachine = (machine: VirtualMachine) => {
    const before = machines.get(machine.metadata.uid);
    machines.set(machine.metadata.uid, machine);
    machineFacts(before, machine, Date.now()).forEach(tell);
  };
  const missMachine = (machine: VirtualMachine) => {
    machines.delete(machine.metadata.uid);
    tell(machineGoneFact(machine, Date.now()));
  };
  await Promise.all([
    follow(kube, Lease, context, leases, () => {}),
    reflect(kube, VirtualMachine, {}, context, {
      replaced: (found) => {
        const uids = new Set(found.map(({ metadata }) => metadata.uid));
        for (const machine of machines.values()) if (!uids.has(machine.metadata.uid)) missMachine(machine);
        found.forEach(seeMachine);
      },
      changed: ({ type, object }) => (type === 'DELETED' ? missMachine(object) : seeMachine(object)),
    }),
    reflect(kube, VMDiskImage, {}, context, {
      replaced: (found) => {
        const uids = new Set(found.map(({ metadata }) => metadata.uid));
        for (const image of images.values()) if (!uids.has(image.metadata.uid)) miss(image);
        found.forEach(see);
      },
      changed: ({ type, object }) => (type === 'DELETED' ? miss(object) : see(object)),
    }),
  ]);
  return () =>
    clusterView([...images.values()], [...machines.values()], {
      nowMs: Date.now(),
      holders: holdersOf(leases.get(`${operatorNamespace}/${leaseName}`)) ?? [],
      facts,
      shareOf: ({ metadata, spec }) => {
        const counted = traffic(spec.url);
        if (!counted || counted.size === 0) return undefined;
        return Math.min(1, (counted.sentBytes - (sentBefore.get(metadata.uid) ?? 0)) / counted.size);
      },
    });
}
