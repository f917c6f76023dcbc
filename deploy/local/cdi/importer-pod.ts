import type { Claim, Pod } from '../controller/kinds.ts';
import { ownedBy } from '../controller/owner.ts';
import { bytesOf } from '../controller/quantity.ts';
import { annotation } from './annotation.ts';
import { cdiLabels, keep, passedOn, scratchName } from './claims.ts';
import { withoutOverhead } from './storage-profile.ts';

/** Pods that name this scheduler are ours to run: a real scheduler leaves them alone. */
export const simulatedScheduler = 'ot-simulated';

/** Keeps a deleted pod until our kubelet has ended it: nothing else would, since it is on no real node. */
export const kubeletFinalizer = 'ot-simulated/kubelet';

export const importerPodName = (filled: Claim) => `importer-${filled.metadata.name}`;

/** The pod that fills a claim. `labels` are those of the DataVolume's own claim. */
export function importerPodFor(filled: Claim, labels: Record<string, string>, scratch: boolean) {
  const { name, namespace, annotations = {} } = filled.metadata;
  const volume = { name: 'cdi-data-vol', persistentVolumeClaim: { claimName: name } };
  const second = { name: 'cdi-scratch-vol', persistentVolumeClaim: { claimName: scratchName(filled) } };
  return {
    metadata: {
      name: importerPodName(filled),
      namespace,
      labels: { ...labels, ...cdiLabels, 'cdi.kubevirt.io': 'importer', 'prometheus.cdi.kubevirt.io': 'true' },
      annotations: { 'cdi.kubevirt.io/storage.createdByController': 'yes', ...keep(annotations, passedOn) },
      finalizers: [kubeletFinalizer],
      ownerReferences: [ownedBy(filled)],
    },
    spec: {
      schedulerName: simulatedScheduler,
      restartPolicy: 'OnFailure',
      enableServiceLinks: false,
      volumes: [volume, ...(scratch ? [second] : []), ...certificates(annotations)],
      containers: [importerContainer(filled, scratch)],
    },
  };
}

function certificates(annotations: Record<string, string>) {
  const name = annotations[annotation.certConfigMap];
  return name ? [{ name: certificatesVolume, configMap: { name } }] : [];
}

const certificatesVolume = 'cdi-cert-vol';

function importerContainer(filled: Claim, scratch: boolean) {
  const block = filled.spec.volumeMode === 'Block';
  const mounts = [
    ...(block ? [] : [{ name: 'cdi-data-vol', mountPath: '/data' }]),
    ...(scratch ? [{ name: 'cdi-scratch-vol', mountPath: '/scratch' }] : []),
  ];
  return {
    name: 'importer',
    image: 'quay.io/kubevirt/cdi-importer:v1.66.0',
    args: ['-v=1'],
    env: environment(filled),
    ...(block ? { volumeDevices: [{ name: 'cdi-data-vol', devicePath: '/dev/cdi-block-volume' }] } : {}),
    ...(mounts.length > 0 ? { volumeMounts: mounts } : {}),
    terminationMessagePolicy: 'FallbackToLogsOnError',
  };
}

function environment(filled: Claim) {
  const { annotations = {} } = filled.metadata;
  const secret = annotations[annotation.secretName];
  const fromSecret = (variable: string, key: string) =>
    secret ? [{ name: variable, valueFrom: { secretKeyRef: { name: secret, key } } }] : [];
  return [
    { name: 'IMPORTER_SOURCE', value: annotations[annotation.source] ?? '' },
    { name: 'IMPORTER_ENDPOINT', value: annotations[annotation.endpoint] ?? '' },
    { name: 'IMPORTER_CONTENTTYPE', value: annotations[annotation.contentType] ?? 'kubevirt' },
    { name: 'IMPORTER_IMAGE_SIZE', value: filled.spec.resources?.requests?.storage ?? '0' },
    { name: 'IMPORTER_CHECKSUM', value: annotations[annotation.checksum] ?? '' },
    { name: 'CACHE_MODE', value: annotations[annotation.requiresDirectIo] === 'true' ? 'TRYNONE' : '' },
    ...fromSecret('IMPORTER_ACCESS_KEY_ID', 'accessKeyId'),
    ...fromSecret('IMPORTER_SECRET_KEY', 'secretKey'),
  ];
}

const variableOf = (pod: Pod, name: string) => pod.spec.containers[0]?.env.find((one) => one.name === name);

/** What an importer pod is to do, read from its environment as the importer itself reads it. */
export const importOf = (pod: Pod) => ({
  sourceType: variableOf(pod, 'IMPORTER_SOURCE')?.value ?? '',
  url: variableOf(pod, 'IMPORTER_ENDPOINT')?.value ?? '',
  checksum: variableOf(pod, 'IMPORTER_CHECKSUM')?.value || undefined,
  secret: variableOf(pod, 'IMPORTER_ACCESS_KEY_ID')?.valueFrom?.secretKeyRef?.name,
  certConfigMap: pod.spec.volumes.find(({ name }) => name === certificatesVolume)?.configMap?.name,
  scratch: pod.spec.volumes.some((volume) => volume.name === 'cdi-scratch-vol'),
});

/** Bytes an image may have on this claim: a file system keeps a part for itself. */
export function usableBytes(filled: Claim): number {
  const capacity = bytesOf(filled.status?.capacity?.storage ?? filled.spec.resources?.requests?.storage ?? '0');
  return filled.spec.volumeMode === 'Block' ? capacity : withoutOverhead(capacity);
}
