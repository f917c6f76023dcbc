import type { Namespace } from '../kinds/core/namespace.ts';
import { requestedByLabel, requestedByNamespaceLabel, type VirtualMachine } from '../kinds/pelotech/virtual-machine.ts';
import { createdBy, diskImageFinalizer, VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { nameOf, type ObjectReference } from '../kinds/resource.ts';
import { bytesOf } from '../kubernetes/quantity.ts';
import { describeFault, isValid, type Policy, type PolicyKey } from '../policy.ts';
import type { Cause } from '../reasons/reason.ts';
import { mayUse } from './references.ts';
import { isFromTemplate, isOfPolicy, missingLine, redactUrl } from './sources.ts';

type Template = VMDiskImage['spec'];

/** The image to create for a machine or workspace: with the finalizer, and labelled with who asked and who created it. */
export const newImage = (
  { namespace, name }: ObjectReference,
  spec: Template,
  { madeBy, askedBy }: { madeBy: string; askedBy: ObjectReference },
) => ({
  metadata: {
    name,
    namespace,
    finalizers: [diskImageFinalizer],
    // No ownerReference: those do not reach into another namespace, and the image outlives who asked for it.
    labels: {
      [createdBy]: madeBy,
      [requestedByLabel]: askedBy.name,
      ...(askedBy.namespace ? { [requestedByNamespaceLabel]: askedBy.namespace } : {}),
    },
  },
  spec,
});

/** Whether the machine lets its image be created from its template if the image is missing. */
export const mayCreateImage = ({ spec }: VirtualMachine) =>
  spec.vmDiskImageTemplate !== undefined && spec.mode !== 'FailIfNotExist';

/** Why an object of this namespace may not name that image, whether it exists or not; undefined if it may. */
export function whyNotNamed(
  policy: Policy,
  askerNamespace: string | undefined,
  image: ObjectReference,
): Cause | undefined {
  const { imageNamespaces } = policy.values;
  const { namespace = '', name } = image;
  if (namespace === askerNamespace) return undefined;
  const fault = faultIn(policy, 'imageNamespaces');
  if (fault) return fault;
  if (mayUse(askerNamespace, namespace, imageNamespaces)) return undefined;
  return {
    reason: 'ImageNamespaceNotAllowed',
    message: `Expected VMDiskImage ${name} in namespace ${askerNamespace} or in one of the policy's imageNamespaces (${imageNamespaces.join(', ')}), found ${namespace}; name an image there, or add ${namespace} to imageNamespaces.`,
  };
}

/** Why no image is made in its namespace: it has to exist before. */
export function whyNoNamespace({ namespace, name }: ObjectReference, found: Namespace | undefined): Cause | undefined {
  if (found && !found.metadata.deletionTimestamp) return undefined;
  return {
    reason: 'ImageNamespaceMissing',
    message: `Expected namespace ${namespace} for VMDiskImage ${name}, found ${found ? 'it being deleted' : 'none'}; make the namespace.`,
  };
}

/** Why no image is made from this template in that namespace; undefined where one may be. */
export function whyNotMade(policy: Policy, namespace: string | undefined, template: Template): Cause | undefined {
  const fault = faultIn(policy, 'allowedSources');
  if (fault) return fault;
  const missing = missingLine(policy, { namespace, spec: template, isAskedFor: true });
  return missing && { reason: 'SourceNotAllowed', message: `Not made from vmDiskImageTemplate: ${missing.message}.` };
}

/**
 * Why this image does not count for one who asks from another namespace: an author's template made it, and the asker's own template does
 * not ask for the same content (functions/ensure-vmdi/README.md says why that matters). Undefined where it counts.
 */
export function whyNotTrusted(
  policy: Policy,
  image: VMDiskImage,
  { namespace, template }: { namespace: string | undefined; template: Template | undefined },
): Cause | undefined {
  const { metadata, spec } = image;
  if (metadata.namespace === namespace || !isFromTemplate(image) || isOfPolicy(policy, image)) return undefined;
  if (template?.url === spec.url && template.checksum === spec.checksum) return undefined;
  return {
    reason: 'ImageNotAdopted',
    message: `${nameOf(VMDiskImage, metadata)} was made from another author's template, and counts only for a vmDiskImageTemplate with the same url and checksum; an admin can adopt it for all: kubectl label vmdi -n ${metadata.namespace} ${metadata.name} ${createdBy}-`,
  };
}

/** An invalid key allows nothing new and forbids nothing that exists. */
function faultIn(policy: Policy, key: PolicyKey): Cause | undefined {
  if (isValid(policy, key)) return undefined;
  const faults = policy.faults.filter((fault) => fault.key === key).map(describeFault);
  return {
    reason: 'InvalidPolicy',
    message: `The policy's ${faults.join('; ')}. Nothing that depends on it starts until it is fixed.`,
  };
}

/** The fields that the template sets and the image has otherwise, each with both values. */
export const differencesOf = (template: Template, image: Template): string[] =>
  (Object.keys(template) as (keyof Template)[])
    .filter((field) => template[field] !== undefined && !isSame(field, template[field], image[field]))
    .map((field) => `${field} (${describeDifference(formatValue(image[field]), formatValue(template[field]))})`);

const describeDifference = (found: string, wanted: string) =>
  found === wanted ? 'in what stands behind the "?"' : `${found}, not ${wanted}`;

const isSame = (field: keyof Template, one: string | undefined, other: string | undefined) =>
  one === other ||
  (field === 'diskSize' && one !== undefined && other !== undefined && bytesOf(one) === bytesOf(other));

const formatValue = (value: string | undefined) => (value === undefined ? 'none' : redactUrl(value));
