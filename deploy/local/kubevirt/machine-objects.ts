import { annotation } from '../cdi/annotation.ts';
import { ownedBy } from '../controller/owner.ts';
import { type DataVolumeTemplate, type VirtualMachine, word } from './kinds.ts';

export function dataVolumeFor(machine: VirtualMachine, { metadata, spec }: DataVolumeTemplate) {
  return {
    metadata: {
      ...metadata,
      namespace: machine.metadata.namespace,
      labels: { ...metadata.labels, [word.createdBy]: machine.metadata.uid },
      annotations: { ...metadata.annotations, [annotation.allowClaimAdoption]: 'true' },
      ownerReferences: [ownedBy(machine)],
    },
    spec,
  };
}

/** The instance that is one run of a machine, with the template as it is now; its preference and instancetype are noted, not written out. */
export function instanceFor(machine: VirtualMachine) {
  const { metadata, spec } = machine.spec.template;
  const { preference, instancetype } = machine.spec;
  return {
    metadata: {
      name: machine.metadata.name,
      namespace: machine.metadata.namespace,
      labels: { ...metadata?.labels },
      annotations: {
        ...metadata?.annotations,
        [word.generation]: String(machine.metadata.generation),
        ...(preference?.name ? { [word.preference]: preference.name } : {}),
        ...(instancetype?.name ? { [word.instancetype]: instancetype.name } : {}),
      },
      finalizers: [word.instanceFinalizer, word.machineFinalizer],
      ownerReferences: [ownedBy(machine)],
    },
    spec,
  };
}
