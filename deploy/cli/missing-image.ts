import { mayUse } from '../../shared/images/references.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';
import type { Cure } from './cures.ts';
import { nearestOf } from './nearest.ts';

/** Which images there are, and how they are made. */
interface Known {
  images: readonly VMDiskImage[];
  policy: Policy;
}

/** What helps a machine that names an image which is not there, and which nobody makes for it. */
export function cureOfMachineWithout({ metadata, spec }: VirtualMachine, known: Known): Cure {
  const ref = spec.vmDiskImageRef;
  const meant = meantBy(ref.name, metadata.namespace, known);
  const otherwise = meant ? `if ${meant} was meant` : 'if the name is misspelt';
  return {
    help: `Make VMDiskImage ${keyOf(ref)}; the machine goes on once it is there. Or, ${otherwise}, make the machine anew: its vmDiskImageRef cannot be changed.`,
    commands: [making(ref, known.policy), `kubectl delete otvm ${metadata.name} -n ${metadata.namespace}`],
  };
}

/** What helps a workspace whose image is neither there nor made: only for these the policy says how images are made. */
export function cureOfWorkspaceWithout(name: string, { metadata }: Workspace, known: Known): Cure {
  const meant = meantBy(name, undefined, known);
  const isSaid = known.policy.values.imageUrlTemplate !== undefined;
  const setTemplate = 'ot-functions policy set imageUrlTemplate "https://images.example/{name}/{version}.qcow2"';
  return {
    help: `${isSaid ? 'See in its message what the policy lacks to make it' : 'Say how images are made from their names'}, or make this one${meant ? `; if ${meant} was meant, name that in backingVMDiskImage` : ''}.`,
    commands: [
      isSaid ? 'ot-functions policy' : setTemplate,
      making({ name }, known.policy),
      ...(meant ? [`kubectl edit otws ${metadata.name}`] : []),
    ],
  };
}

/** The image that was most likely meant, of those that may be named: one of that name elsewhere, or a slip of the hand. */
function meantBy(name: string, from: string | undefined, { images, policy }: Known): string | undefined {
  const { imageNamespaces } = policy.values;
  const usable = images.filter(({ metadata }) => mayUse(from, metadata.namespace ?? '', imageNamespaces));
  const nearest = nearestOf(
    name,
    usable.map(({ metadata }) => metadata.name),
  );
  const image = usable.find(({ metadata }) => metadata.name === nearest);
  return image && keyOf(image.metadata);
}

/** What makes an image; preload makes them in namespaces of the policy only. */
function making({ namespace, name }: ObjectReference, { values }: Policy): string {
  const [home, ...others] = values.imageNamespaces;
  if (namespace && namespace !== home && !others.includes(namespace)) return 'kubectl apply -f FILE';
  const where = namespace && namespace !== home ? ` -n ${namespace}` : '';
  const { imageUrlTemplate: template } = values;
  const from = template === undefined ? ' --url URL' : template.includes('{version}') ? ' --version V' : '';
  return `ot-functions preload ${name}${where}${from}`;
}
