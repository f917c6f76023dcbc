import { hardwareKinds } from '../../../shared/kinds/kubevirt/hardware.ts';
import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { serviceAccountUser } from '../api-server/authentication.ts';
import { refuseClone } from '../cdi/clone-authorization.ts';
import { performStep, soonest } from '../controller/step.ts';
import type { Again } from '../controller/work-queue.ts';
import type { KubevirtContext } from './context.ts';
import type { VirtualMachine } from './kinds.ts';
import { nextForMachine, type ObservedMachine, refusedMachine } from './machine-step.ts';

/** Simulates virt-controller for one machine: one reconcile of it. */
export async function reconcileMachine(context: KubevirtContext, ref: ObjectReference): Promise<Again> {
  const machine = context.machines.find(ref);
  if (!machine) return undefined;
  const { observed, waitMs: faultMs } = await observe(context, machine);
  const { writes, waitMs } = nextForMachine(observed);
  const pollMs = observed.refusals.size > 0 || observed.lost ? context.timings.pollMs : undefined;
  return performStep(context, { writes, waitMs: soonest(waitMs, faultMs, pollMs) }, (cause) =>
    refusedMachine(observed, writes, cause),
  );
}

async function observe(context: KubevirtContext, machine: VirtualMachine) {
  const { clock, timings, instances, dataVolumes, claims, times, faults } = context;
  const { namespace, name, uid } = machine.metadata;
  const rule = faults.inject(uid, name, 'dataVolumeError');
  const isWatched =
    rule && machine.spec.template.spec.volumes?.some(({ dataVolume }) => isThere(context, machine, dataVolume));
  const leftMs = isWatched ? rule.forMs - times.msIn(`${uid} dataVolumeError`) : 0;
  const observed: ObservedMachine = {
    machine,
    instance: instances.find({ namespace, name }),
    dataVolume: (one) => dataVolumes.find({ namespace, name: one }),
    claim: (one) => claims.find({ namespace, name: one }),
    seesDataVolumeError: leftMs > 0,
    refusals: await refusalsOf(context, machine),
    lost: await lostHardware(context, machine),
    backOffScale: timings.backOffScale,
    nowMs: clock.now(),
  };
  return { observed, waitMs: leftMs > 0 ? leftMs : undefined };
}

const isThere = ({ dataVolumes }: KubevirtContext, { metadata }: VirtualMachine, dataVolume?: { name: string }) =>
  dataVolume !== undefined && dataVolumes.find({ namespace: metadata.namespace, name: dataVolume.name }) !== undefined;

/** Once it has started a machine KubeVirt has copies of both (kubevirt, pkg/instancetype/controller/vm/controller.go checkResourcesExist). */
async function lostHardware({ kube }: KubevirtContext, { spec, status }: VirtualMachine) {
  if (status?.runStrategy !== undefined) return undefined;
  for (const field of ['instancetype', 'preference'] as const) {
    const { [field]: { name } = {} } = spec;
    const { plural } = hardwareKinds[field];
    if (name && !(await kube.get(hardwareKinds[field], { name }))) {
      const reason = field === 'preference' ? 'FailedFindPreference' : 'FailedFindInstancetype';
      return { reason, message: `${plural}.instancetype.kubevirt.io "${name}" not found` };
    }
  }
  return undefined;
}

/** Asks, as KubeVirt does, whether the machine's ServiceAccount may clone what its templates name. */
async function refusalsOf({ kube, dataVolumes }: KubevirtContext, { metadata, spec }: VirtualMachine) {
  const refusals = new Map<string, string>();
  if (metadata.deletionTimestamp) return refusals;
  const { namespace = '' } = metadata;
  for (const template of spec.dataVolumeTemplates ?? []) {
    const { name } = template.metadata;
    const source = template.spec.source?.snapshot?.namespace;
    if (!source || source === namespace || dataVolumes.find({ namespace, name })) continue;
    const account = serviceAccountUser({ namespace, name: spec.template.spec.serviceAccountName || 'default' });
    const refusal = await refuseClone(kube, account, source);
    if (refusal !== undefined) refusals.set(name, refusal);
  }
  return refusals;
}
