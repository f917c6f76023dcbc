import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { digestOf } from '../../shared/kubernetes/names.ts';
import type { Policy } from '../../shared/policy.ts';
import { childMetadata } from './children.ts';
import { merged } from './merge-patch.ts';
import { cloudInit, kubeOvn, root, wanted } from './template.ts';

/** Digest of what we want of the machine: KubeVirt adds to what it is given, so that comparing the whole finds differences for ever. */
const wantedDigest = 'pelotech.ot/wanted-digest';

/** How the machine was to run when we said so last; from then on it is started and stopped by people. */
const askedToRun = 'pelotech.ot/run-strategy';

/** How the machine ran before `spec.halted` stopped it: what a person chose then counts again afterwards. */
const ranBefore = 'pelotech.ot/run-strategy-before-halt';

type RunStrategy = 'Always' | 'Halted';

/** The KubeVirt machine as it is made. */
export function kubeVirtMachineFor(machine: VirtualMachine, policy: Policy, runStrategy: RunStrategy) {
  const asked = wanted(machine, policy);
  const metadata = childMetadata(machine, machine.metadata.name);
  const annotations = { [wantedDigest]: digestOf(asked), [askedToRun]: runStrategy };
  return {
    apiVersion: KubeVirtMachine.apiVersion,
    kind: KubeVirtMachine.kind,
    metadata: { ...metadata, labels: { ...metadata.labels, ...(merged({}, asked.labels) as object) }, annotations },
    spec: { runStrategy, template: merged({}, asked.template) },
  };
}

/**
 * The KubeVirt machine as it should be, where it is not; undefined where it is. What KubeVirt or a person added stays; a
 * machine that was made halted is started once that is wanted, and only `spec.halted` stops one.
 */
export function changedKubeVirtMachine(
  machine: VirtualMachine,
  policy: Policy,
  { found, runStrategy }: { found: KubeVirtMachine; runStrategy: RunStrategy },
): KubeVirtMachine | undefined {
  const next = wanted(machine, policy);
  const digest = digestOf(next);
  const { annotations = {} } = found.metadata;
  const run = nextRun(machine, found, runStrategy);
  if (annotations[wantedDigest] === digest && !run) return undefined;
  const withoutOld = merged(found.spec?.template ?? {}, { metadata: { annotations: staleAnnotations(found) } });
  const template = withAdded(merged(withoutOld, next.template) as Template, withoutOld as Template);
  return {
    ...found,
    metadata: {
      ...found.metadata,
      labels: merged(found.metadata.labels ?? {}, next.labels) as Record<string, string>,
      annotations: { ...(run?.annotations ?? annotations), [wantedDigest]: digest },
    },
    spec: { ...found.spec, ...run?.spec, template },
  };
}

/** How the machine is to run from now on, and what is noted of it; undefined if that stays as it is. */
function nextRun({ spec: { halted } }: VirtualMachine, { metadata, spec }: KubeVirtMachine, runStrategy: RunStrategy) {
  const { [ranBefore]: before, ...annotations } = metadata.annotations ?? {};
  const { runStrategy: found = 'Always' } = spec ?? {};
  if (halted) {
    if (found === 'Halted') return undefined;
    return { spec: { runStrategy: 'Halted' }, annotations: { ...annotations, [ranBefore]: before ?? found } };
  }
  if (annotations[askedToRun] === 'Halted' && runStrategy === 'Always') {
    return { spec: { runStrategy }, annotations: { ...annotations, [askedToRun]: runStrategy } };
  }
  return before === undefined ? undefined : { spec: { runStrategy: before }, annotations };
}

/** Whether the machine is to run once it is made. */
export const runStrategyFor = ({ spec }: VirtualMachine, { values }: Policy): RunStrategy =>
  spec.halted || (spec.ignoreOnDeploy && values.ignoreOnDeploy !== 'Start') ? 'Halted' : 'Always';

/** The machine was told to run, by us or by a person. */
export const isToRun = ({ metadata, spec }: KubeVirtMachine) =>
  metadata.annotations?.[askedToRun] === 'Always' || spec?.runStrategy === 'Always';

type Named = { name: string };
interface Template {
  spec?: { domain?: { devices?: { disks?: readonly Named[] } }; volumes?: readonly Named[] };
}

/** Disks that were plugged in by others stay, and the disk of a backup that was put in place of ours. */
function withAdded(next: Template, found: Template): Readonly<Record<string, unknown>> {
  const { domain, volumes = [] } = next.spec ?? {};
  const rootFound = found.spec?.volumes?.find(({ name }) => name === root);
  const added = (list: readonly Named[] = []) => list.filter(({ name }) => name !== root && name !== cloudInit);
  const disks = [...(domain?.devices?.disks ?? []), ...added(found.spec?.domain?.devices?.disks)];
  return {
    ...next,
    spec: {
      ...next.spec,
      domain: { ...domain, devices: { ...domain?.devices, disks } },
      volumes: [
        ...volumes.map((one) => (one.name === root && rootFound ? rootFound : one)),
        ...added(found.spec?.volumes),
      ],
    },
  };
}

const staleAnnotations = ({ spec }: KubeVirtMachine): Record<string, null> => {
  const { metadata } = (spec?.template ?? {}) as { metadata?: { annotations?: Record<string, string> } };
  const old = Object.keys(metadata?.annotations ?? {}).filter((key) => key.includes(kubeOvn));
  return Object.fromEntries(old.map((key) => [key, null]));
};
