import { isUnreachable } from '../../shared/images/inspection.ts';
import { isOneWord, labelAsPassword, makeSecret, makeSecretOf } from '../../shared/kinds/core/secret.ts';
import type { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { requestDownload, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { type About, rowOf } from '../../shared/reasons/table.ts';
import { formatTyped, kindOf, type OnOpenStack } from './target.ts';

/** How to correct a problem, and the commands for it. */
export interface Remedy {
  help: string;
  commands: string[];
}

/** The values of the placeholders in the table of reasons. */
type Names = Readonly<Record<string, string | undefined>>;

/** What the table of reasons advises for an object of that kind, with its names; undefined if it advises nothing. */
export function remedyForReason(about: About, reason: string | undefined, names: Names): Remedy | undefined {
  const row = reason === undefined ? undefined : rowOf(reason, about);
  if (!row?.help) return undefined;
  const fill = (text: string) =>
    text.replace(/\b[A-Z]{3,}\b/g, (word) => {
      const name = names[word];
      return name && isOneWord(name) ? name : word;
    });
  return { help: fill(row.help), commands: (row.run ?? []).map(fill) };
}

/** What the table advises for the reason of the image; undefined if it advises nothing. */
export function remedyForImageReason(image: VMDiskImage): Remedy | undefined {
  const { metadata, spec, status } = image;
  const names = {
    KIND: 'vmdi',
    NAME: metadata.name,
    NAMESPACE: metadata.namespace,
    SECRET: spec.secretRef,
    CONFIGMAP: spec.certConfigMap,
  };
  const remedy = remedyForReason('VMDiskImage', conditionOf(status?.conditions, 'Ready')?.reason, names);
  if (spec.secretRef || !remedy?.help.includes('SECRET')) return remedy;
  return {
    help: 'The url needs keys, and the image names no Secret: name one in secretRef, or make the object public; then retry.',
    commands: [editImage(metadata), requestDownload(metadata)],
  };
}

/** How to correct an image that is Failed. */
export function remedyForFailed(image: VMDiskImage): Remedy {
  const remedy = remedyForImageReason(image) ?? {
    help: 'Correct the cause, then retry.',
    commands: [requestDownload(image.metadata)],
  };
  return { ...remedy, commands: [...new Set([...correctUrl(image), ...remedy.commands])] };
}

export const editImage = ({ name, namespace }: ObjectReference) => `kubectl edit vmdi ${name} -n ${namespace}`;

/** The host in the url may be wrong if no inspection reached it. */
const correctUrl = (image: VMDiskImage) => (isUnreachable(image) ? [editImage(image.metadata)] : []);

/** How to correct an image that waits for the next attempt. */
export const remedyForRetrying = (image: VMDiskImage): Remedy => ({
  help: isUnreachable(image)
    ? 'Correct the url if its host is wrong; the image then syncs by itself. To retry the same url immediately, run the last command.'
    : 'Correct the cause before the next attempt; to retry immediately, run the last command.',
  commands: [...correctUrl(image), requestDownload(image.metadata)],
});

/** How to correct images that wait for a Secret; each checks again by itself. */
export const remedyForMissingSecret = (ref: ObjectReference): Remedy => ({
  help: `Create Secret ${keyOf(ref)}, which secretRef names and which does not exist; images that name it wait for it.`,
  commands: [makeSecret(ref)],
});

/** How to correct a machine that waits for a user; undefined if the reason says no more than its message. */
export function remedyForMachineReason(machine: VirtualMachine, reason: string | undefined): Remedy | undefined {
  const { metadata, spec, status } = machine;
  const remedy = remedyForReason('VirtualMachine', reason, {
    KIND: 'otvm',
    NAME: metadata.name,
    NAMESPACE: metadata.namespace,
    DATAVOLUME: status?.rootDisk?.name,
    SECRET: reason === 'HostKeyMissing' ? spec.sshHostKeySecretRef?.name : undefined,
  });
  return remedy && reason === 'PasswordSecretMissing' ? { ...remedy, commands: makePasswords(machine) } : remedy;
}

/** For each Secret that users name; which of them is missing only the message says. */
function makePasswords({ metadata: { namespace = '' }, spec: { users = [] } }: VirtualMachine): string[] {
  const refs = users
    .flatMap(({ passwordSecretRef }) => passwordSecretRef ?? [])
    .filter(({ name, key }) => isOneWord(name) && isOneWord(key));
  return [...Map.groupBy(refs, ({ name }) => name)].flatMap(([name, keys]) => [
    makeSecretOf([...new Set(keys.map(({ key }) => key))], { namespace, name }),
    labelAsPassword(name, namespace),
  ]);
}

/** How to correct an object on OpenStack that is not Ready. */
export function remedyOnOpenStack(target: OnOpenStack): Remedy {
  const { name, namespace } = target.metadata;
  const known = kindOf(target);
  // With the group: other groups have volumes and machines, too.
  const kind = known.includes('.') ? known : `${known}.kupenstack.io`;
  const reason = conditionOf(target.status?.conditions, 'Ready')?.reason;
  const remedy = remedyForReason('OpenStack', reason, { KIND: kind, NAME: name, NAMESPACE: namespace });
  if (remedy) return remedy;
  const describe = `kubectl describe ${kind} ${name} -n ${namespace}`;
  if (target.status?.phase !== 'Failed') {
    const { help, commands } = waiting(target);
    return { help, commands: [...commands, describe] };
  }
  return {
    help: 'Correct what OpenStack reports in the message; the function tries again by itself.',
    commands: [describe],
  };
}

/** The only thing to do is to wait. */
export const waiting = (target: Parameters<typeof formatTyped>[0]): Remedy => ({
  help: 'It is in progress: wait.',
  commands: [`ot-functions wait ${formatTyped(target)}`],
});
