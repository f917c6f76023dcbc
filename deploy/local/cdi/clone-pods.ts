import type { Claim, Pod } from '../controller/kinds.ts';
import { ownedBy } from '../controller/owner.ts';
import { cdiLabels } from './claims.ts';
import { kubeletFinalizer, simulatedScheduler } from './importer-pod.ts';
import type { Termination } from './pod-status.ts';

/** The Pod that has a node bind or resize the volume of a clone, in the namespace of the snapshot. */
export const prepPodFor = (target: Claim, temporary: Claim) =>
  podOn(temporary, `prep-${target.metadata.uid}`, 'cdi-populator-prep', {
    'cdi.kubevirt.io/OwnedByUID': target.metadata.uid,
  });

/** The Pod that receives a copy from volume to volume. The Pod that sends it is not simulated. */
export function uploadPodFor(temporary: Claim) {
  const name = `cdi-upload-${temporary.metadata.name}`;
  return podOn(temporary, name, 'cdi-upload-server', {
    'cdi.kubevirt.io/uploadTarget': temporary.metadata.uid,
    service: name,
  });
}

function podOn(claim: Claim, name: string, role: string, labels: Record<string, string>) {
  return {
    metadata: {
      name,
      namespace: claim.metadata.namespace,
      labels: { ...cdiLabels, 'cdi.kubevirt.io': role, ...labels },
      finalizers: [kubeletFinalizer],
      ownerReferences: [ownedBy(claim)],
    },
    spec: {
      schedulerName: simulatedScheduler,
      restartPolicy: 'OnFailure',
      volumes: [{ name: 'cdi-data-vol', persistentVolumeClaim: { claimName: claim.metadata.name } }],
      containers: [{ name: role, image: `quay.io/kubevirt/${role}:v1.66.0` }],
    },
  };
}

/** How the container of a Pod of clones ends; undefined for an importer. */
export function endOfClonePod({ metadata: { labels } }: Pod): Termination | undefined {
  const role = labels?.['cdi.kubevirt.io'];
  if (role === 'importer') return undefined;
  const message = role === 'cdi-upload-server' ? { preallocationApplied: true, message: 'Clone Complete' } : undefined;
  return { exitCode: 0, reason: 'Completed', message: message ? JSON.stringify(message) : '' };
}
