import { ownedBy } from '../controller/owner.ts';
import type { Write } from '../controller/write.ts';
import { type Job, jobTracking, Pod, type ReplicaSet } from './kinds.ts';

/** The creation of one Pod of its owner's template; the server ends its name. */
export function newPod(owner: ReplicaSet | Job): Write {
  const { name, namespace } = owner.metadata;
  const { metadata = {}, spec } = owner.spec.template;
  return {
    do: 'create',
    resource: Pod,
    object: {
      metadata: {
        ...metadata,
        name: '',
        generateName: `${name}-`,
        namespace,
        ownerReferences: [ownedBy(owner)],
        ...(owner.kind === 'Job' ? { finalizers: [jobTracking] } : {}),
      },
      spec,
    } as { metadata: { name: string } },
  };
}
