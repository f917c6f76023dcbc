import { requestedByLabel, requestedByNamespaceLabel } from '../kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../kinds/resource.ts';
import { bytesOf } from '../kubernetes/quantity.ts';
import { describeFault, isValid, type Policy, type PolicyKey } from '../policy.ts';
import { mayUse } from './references.ts';
import { refusedBy, withoutQuery } from './sources.ts';

type Template = VMDiskImage['spec'];

/** Why something is not done: one word, and what was expected, what was found, what to do. */
export interface Why {
  reason: string;
  message: string;
}

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
      'app.kubernetes.io/created-by': madeBy,
      [requestedByLabel]: askedBy.name,
      ...(askedBy.namespace ? { [requestedByNamespaceLabel]: askedBy.namespace } : {}),
    },
  },
  spec,
});

/** Why an object of this namespace may not name that image, whether it exists or not; undefined if it may. */
export function whyNotNamed(policy: Policy, askerNamespace: string | undefined, image: ObjectReference) {
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

/** Why no image is made from this template; undefined where one may be. */
export function whyNotMade(policy: Policy, template: Template): Why | undefined {
  const fault = faultIn(policy, 'allowedSources');
  if (fault) return fault;
  const refusal = refusedBy(policy.values.allowedSources, template);
  return refusal === undefined
    ? undefined
    : { reason: 'SourceNotAllowed', message: `Not made from vmDiskImageTemplate: ${refusal}; change one of the two.` };
}

/** An invalid key allows nothing new and forbids nothing that exists. */
function faultIn(policy: Policy, key: PolicyKey): Why | undefined {
  if (isValid(policy, key)) return undefined;
  const said = policy.faults.filter((fault) => fault.key === key).map(describeFault);
  return {
    reason: 'InvalidPolicy',
    message: `The policy's ${said.join('; ')}. Nothing that depends on it starts until it is fixed.`,
  };
}

/** The fields that the template sets and the image has otherwise, each with both values. */
export const differencesOf = (template: Template, image: Template): string[] =>
  (Object.keys(template) as (keyof Template)[])
    .filter((field) => template[field] !== undefined && !isSame(field, template[field], image[field]))
    .map((field) => `${field} (${describeDifference(say(image[field]), say(template[field]))})`);

const describeDifference = (found: string, wanted: string) =>
  found === wanted ? 'in what stands behind the "?"' : `${found}, not ${wanted}`;

const isSame = (field: keyof Template, one: string | undefined, other: string | undefined) =>
  one === other ||
  (field === 'diskSize' && one !== undefined && other !== undefined && bytesOf(one) === bytesOf(other));

const say = (value: string | undefined) => (value === undefined ? 'none' : withoutQuery(value));
