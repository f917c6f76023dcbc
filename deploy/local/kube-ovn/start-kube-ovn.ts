import { type KubernetesObject, keyOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import { type Running, type SimulatorOptions, simulator } from '../controller/simulator.ts';
import { timeInState } from '../controller/time-in-state.ts';
import type { Again } from '../controller/work-queue.ts';
import { isOver, Pod } from '../workloads/kinds.ts';
import { networksOf } from '../workloads/networks.ts';
import { type NetworkFaultRule, networkFaults } from './faults.ts';
import { finalizer, providerOf, Subnet, Vpc } from './kinds.ts';
import { nextForSubnet } from './subnet-step.ts';
import { nextForVpc } from './vpc-step.ts';

export interface KubeOvnOptions extends SimulatorOptions {
  faults?: readonly NetworkFaultRule[];
  /** As before v1.16: a Subnet whose range conflicts with another reports it, but is Ready. */
  forgivesConflicts?: boolean;
  /** Between two writes about the same object. */
  tickMs?: number;
}

/** Simulates kube-ovn's controller for Vpcs and Subnets, as an ordinary client; no packet flows, and addresses are counted only. */
export function startKubeOvn(options: KubeOvnOptions): Running {
  const { clock, tickMs = 5, forgivesConflicts = false, retry = { firstMs: 20, maxMs: 5000 } } = options;
  const kinds = { vpcs: Vpc, subnets: Subnet, pods: Pod };
  const { shared, queue, run } = simulator({ ...options, retry }, 'kube-ovn-controller', kinds);
  const { vpcs, subnets, pods, perform } = shared;
  const faults = networkFaults(options.faults ?? []);
  const times = timeInState(clock);
  let looks = 0;

  const downMs = ({ metadata: { uid, name } }: KubernetesObject) => {
    const rule = faults.inject(uid, name, 'controllerDown');
    return rule ? rule.forMs - times.msIn(`${uid} down`) : 0;
  };

  /** Addresses in use: one for each Pod on the Subnet's network, and what a fault keeps. */
  function usingOf({ metadata: { uid, name }, spec }: Subnet): number {
    const attached = [...pods.objects.values()].filter(
      (pod) =>
        !isOver(pod) &&
        networksOf(pod).some((network) => providerOf(network.namespace ?? '', network.name) === spec.provider),
    );
    const kept = faults.inject(uid, name, 'addressInUse');
    const isKept = kept !== undefined && times.msIn(`${uid} kept`) < (kept.forMs ?? Number.POSITIVE_INFINITY);
    return attached.length + (isKept ? 1 : 0);
  }

  async function lookAtVpc(ref: ObjectReference): Promise<Again> {
    const vpc = vpcs.find(ref);
    if (!vpc) return undefined;
    const waitMs = downMs(vpc);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const writes = nextForVpc(vpc, [...subnets.objects.values()]);
    await perform(writes);
    return writes.length > 0 ? { holdMs: tickMs } : undefined;
  }

  async function lookAtSubnet(ref: ObjectReference): Promise<Again> {
    const subnet = subnets.find(ref);
    if (!subnet) return undefined;
    const waitMs = downMs(subnet);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    const { name, uid } = subnet.metadata;
    const occasion = `${uid} ${++looks}`;
    const refused = faults.inject(occasion, name, 'refused');
    const broken = faults.inject(occasion, name, 'ovnError');
    const using = usingOf(subnet);
    const { writes, retry } = nextForSubnet({
      subnet,
      vpc: vpcs.find({ name: subnet.spec.vpc ?? '' }),
      others: [...subnets.objects.values()],
      using,
      refusal: refused && (refused.message ?? `subnet ${name} is refused on purpose`),
      ovnError: broken && (broken.message ?? 'context deadline exceeded: while waiting for reconnect'),
      forgivesConflicts,
      nowMs: clock.now(),
    });
    await perform(writes);
    queues.vpcs.add({ name: subnet.spec.vpc ?? '' });
    if (retry !== undefined) throw new Error(retry);
    const kept = faults.inject(uid, name, 'addressInUse');
    const isHeld = subnet.metadata.deletionTimestamp !== undefined && using > 0;
    return isHeld && kept?.forMs
      ? { requeueAfterMs: Math.max(tickMs, kept.forMs - times.msIn(`${uid} kept`)) }
      : undefined;
  }

  const queues = { vpcs: queue(lookAtVpc), subnets: queue(lookAtSubnet) };

  vpcs.onChange(({ metadata }) => queues.vpcs.add(metadata));
  const isNews = newsOf();
  subnets.onChange((subnet) => {
    if (!subnets.objects.has(keyOf(subnet.metadata))) queues.vpcs.add({ name: subnet.spec.vpc ?? '' });
    else if (isNews(subnet)) queues.subnets.add(subnet.metadata);
  });
  pods.onChange((pod) => {
    const providers = networksOf(pod).map((network) => providerOf(network.namespace ?? '', network.name));
    for (const { metadata, spec } of subnets.objects.values())
      if (providers.includes(spec.provider ?? '')) queues.subnets.add(metadata);
  });
  return run();
}

/** Whether something else than a status has changed: what kube-ovn says itself must not wake it. */
function newsOf() {
  const seen = new Map<string, string>();
  return ({ metadata }: Subnet) => {
    const { uid, generation, deletionTimestamp, finalizers = [] } = metadata;
    const now = [uid, generation, deletionTimestamp, finalizers.includes(finalizer)].join();
    const isNew = seen.get(uid) !== now;
    seen.set(uid, now);
    return isNew;
  };
}
