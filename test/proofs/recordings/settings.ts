import { failed } from '../../../deploy/local/cdi/scripted-import.ts';
import { importImage } from '../../../deploy/local/importer/import-image.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { referenceOf } from '../../../shared/kinds/resource.ts';
import { StorageClass } from '../../../shared/kinds/storage/storage-class.ts';
import type { Settings } from './run-scenario.ts';
import { secrets } from './store.ts';

/** A point in the download itself: more than an importer reads before it asks for scratch space. */
const midway = 0.0003;

const consumed: Settings = {
  meanwhile: {
    at: /Running False Pending "Clone Pending"/,
    act: ({ kube }, dataVolume) =>
      kube.patch(PersistentVolumeClaim, referenceOf(dataVolume), {
        metadata: { annotations: { 'volume.kubernetes.io/selected-node': 'node' } },
      }),
  },
};

/** The settings of each scenario that needs more than its objects. */
export const settings: Record<string, Settings> = {
  '00-storageprofile-without-properties': {
    storageProfiles: { 'filesystem.csi.test': { accessModes: [], volumeMode: 'Filesystem' } },
    meanwhile: {
      at: /ErrClaimNotValid/,
      act: ({ kube, profiles }) => {
        profiles['filesystem.csi.test'] = { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' };
        return kube.patch(StorageClass, { name: 'fs' }, { metadata: { annotations: { seen: 'again' } } });
      },
    },
    importImage: failingOnce(
      'Unable to process data: Unable to transfer source data to scratch space: could not open file "/scratch/tmpimage": open /scratch/tmpimage: permission denied',
    ),
  },
  '14-secret-missing-then-created': {
    meanwhile: {
      at: /CreateContainerConfigError/,
      act: ({ kube }, { metadata: { namespace } }) =>
        kube.create(Secret, { metadata: { name: 'later', namespace }, data: secrets['s3-reader'] }),
    },
  },
  '16-s3-cut-midway': { storeFaults: [{ match: 'cut.qcow2', mode: 'cutAt', fraction: 0.5 }] },
  '25-http-cut': { storeFaults: [{ match: 'cut2.qcow2', mode: 'cutAt', fraction: 0.5 }] },
  '27-pod-deleted-by-hand': {
    storeFaults: [{ match: 'slow.qcow2', mode: 'stall', fraction: 0.9 }],
    faults: [{ match: 'slow.qcow2', mode: 'drained', at: midway }],
    containerMs: 1500,
  },
  '28-image-deleted-midway': { storeFaults: [{ match: 'slow2.qcow2', mode: 'stall', fraction: 0.9 }] },
  '29-datavolume-deleted-by-hand': { storeFaults: [{ match: 'slow.qcow2', mode: 'stall', fraction: 0.9 }] },
  '30-quota-on-scratch': {
    faults: [{ match: 'small.qcow2', mode: 'scratchQuota' }],
    before: { DataVolume: /exceeded quota/, 'importer Pod 2': /ContainerCreating/ },
  },
  '31-quota-on-target': { faults: [{ match: 'small.qcow2', mode: 'quota' }] },
  '32-importer-image-missing': { faults: [{ match: 'small.qcow2', mode: 'imagePull', forMs: 60_000, times: 2 }] },
  '33-snapshot-class-with-missing-secret': { snapshotFaults: [{ match: '', mode: 'noCredentials' }] },
  '35-importer-killed-9': { faults: [{ match: 'slow.qcow2', mode: 'killed', at: midway }] },
  '36-s3-body-stalls': { storeFaults: [{ match: 'stall.qcow2', mode: 'stall', fraction: 0.3 }] },
  '50-clone-block-wffc-cross-namespace': consumed,
  '51-clone-block-larger': consumed,
};

function failingOnce(message: string): NonNullable<Settings['importImage']> {
  let isFirst = true;
  return (request) => {
    if (!isFirst) return importImage(request);
    isFirst = false;
    return Promise.resolve(failed(message));
  };
}
