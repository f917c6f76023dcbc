import { mayUse } from '../../shared/images/references.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';
import { isMadeForWorkspaces } from '../../shared/workspaces/images.ts';
import { nearestOf } from './nearest.ts';
import { editImage, type Remedy } from './remedies.ts';
import type { Target } from './target.ts';

/** The existing images and the policy. */
interface Known {
  images: readonly VMDiskImage[];
  policy: Policy;
}

/** How to correct a machine whose image does not exist and is not created for it. */
export function remedyForMachineWithoutImage({ metadata, spec }: VirtualMachine, known: Known): Remedy {
  const ref = spec.vmDiskImageRef;
  const meant = meantBy(ref.name, metadata.namespace, known);
  const create = `Create VMDiskImage ${keyOf(ref)}; the machine continues when it exists.`;
  const again = 'delete the machine and create it again: its vmDiskImageRef cannot be changed.';
  const make = making(ref, known.policy);
  const remove = `kubectl delete otvm ${metadata.name} -n ${metadata.namespace}`;
  return meant && !areVersions(meant, keyOf(ref))
    ? { help: `If ${meant} was meant, ${again} Otherwise: ${create}`, commands: [remove] }
    : { help: `${create} Or, if the name is misspelt, ${again}`, commands: [make, remove] };
}

/** Two names that differ in digits only are rather two versions, of which one is not there yet. */
const areVersions = (a: string, b: string) => a.replaceAll(/\d/g, '0') === b.replaceAll(/\d/g, '0');

/** How to correct a workspace whose image neither exists nor is created; the policy says how images of workspaces are created. */
export function remedyForWorkspaceWithoutImage(name: string, { metadata }: Workspace, known: Known): Remedy {
  const meant = meantBy(name, undefined, known);
  const hasTemplate = known.policy.values.imageUrlTemplate !== undefined;
  const setTemplate = 'ot-functions policy set imageUrlTemplate "https://images.example/{name}/{version}.qcow2"';
  return {
    help: `${hasTemplate ? 'See in its message what the policy lacks to make it' : 'Say how images are made from their names'}, or make this one${meant ? `; if ${meant} was meant, name that in backingVMDiskImage` : ''}.`,
    commands: [
      hasTemplate ? 'ot-functions policy' : setTemplate,
      making({ name }, known.policy),
      ...(meant ? [`kubectl edit otws ${metadata.name}`] : []),
    ],
  };
}

/** An image that was made of a misspelt name is corrected in the workspace that asked for it. */
export function remedyForMadeImage(found: Remedy & { at: Target }, { metadata }: Workspace, known: Known): Remedy {
  const { help, commands } = found;
  const image = known.images.find((one) => one === found.at);
  if (!image || !isMadeForWorkspaces(image)) return { help, commands };
  const others = known.images.filter((one) => one !== image);
  const meant = meantBy(image.metadata.name, undefined, { ...known, images: others });
  if (!meant || areVersions(meant, keyOf(image.metadata))) return { help, commands };
  return {
    help: `If ${meant} was meant, name that in backingVMDiskImage. Otherwise: ${help}`,
    commands: [`kubectl edit otws ${metadata.name}`, ...commands],
  };
}

/** How to correct an image whose Secret does not exist: other images of its namespace, or the policy, may name the right Secret. */
export function remedyForImageWithoutSecret(image: VMDiskImage, { images, policy }: Known, create: Remedy): Remedy {
  const { namespace } = image.metadata;
  const { secretRef = '' } = image.spec;
  const others = images.filter((other) => other.metadata.namespace === namespace).map(({ spec }) => spec.secretRef);
  const named = [policy.values.imageSecretRef, ...others].flatMap((one) => one ?? []);
  const meant = nearestOf(
    secretRef,
    named.filter((one) => one !== secretRef),
  );
  if (!meant) return create;
  return {
    help: `If ${meant} was meant, name it in secretRef. Otherwise: ${create.help}`,
    commands: [editImage(image.metadata), ...create.commands],
  };
}

/** The existing image that the user most likely meant: one with that name in another namespace, or with a similar name. */
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

/** The command that creates an image; preload creates images only in the namespaces of the policy. */
function making({ namespace, name }: ObjectReference, { values }: Policy): string {
  const [home, ...others] = values.imageNamespaces;
  if (namespace && namespace !== home && !others.includes(namespace)) return 'kubectl apply -f FILE';
  const where = namespace && namespace !== home ? ` -n ${namespace}` : '';
  const { imageUrlTemplate: template } = values;
  const from = template === undefined ? ' --url URL' : template.includes('{version}') ? ' --version V' : '';
  return `ot-functions preload ${name}${where}${from}`;
}
