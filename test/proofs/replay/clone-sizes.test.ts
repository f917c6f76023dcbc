import { expect, test } from 'vitest';
import { nextForClone } from '../../../deploy/local/cdi/clone-step.ts';
import { renderClaimSpec } from '../../../deploy/local/cdi/storage-profile.ts';
import { DataVolume as CdiDataVolume, Claim, StorageClass } from '../../../deploy/local/controller/kinds.ts';
import { bytesOf } from '../../../deploy/local/controller/quantity.ts';
import { VolumeSnapshot } from '../../../deploy/local/snapshots/kinds.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { aVirtualMachine } from '../../support/builders/machines.ts';
import { aReadyImage, madeIn, reconcile } from '../../support/harness/provision-vm.ts';
import { readScenario } from './scenarios.ts';

/** The claim that CDI creates for the root disk of a machine on a snapshot, computed as in the recordings. */
function claimOn({ diskSize, restoreSize, volumeMode }: Snapshot, wanted?: string) {
  const image = aReadyImage({ diskSize });
  const snapshot = { name: 'ubuntu-r1', revision: 1, restoreSize };
  const machine = aVirtualMachine({
    spec: { resources: { cpu: '1', memory: '1Gi', ...(wanted === undefined ? {} : { diskSize: wanted }) } },
  });
  const made = madeIn(
    reconcile({ machine, image: { ...image, status: { ...image.status, snapshot } } }).actions,
    DataVolume,
  );
  const { metadata, spec } = made as unknown as CdiDataVolume;
  const dataVolume = CdiDataVolume.parse({
    metadata: {
      ...metadata,
      annotations: { 'cdi.kubevirt.io/storage.usePopulator': 'true' },
      finalizers: ['cdi.kubevirt.io/dataVolumeFinalizer'],
    },
    spec,
  });
  const writes = nextForClone({
    dataVolume,
    snapshot: VolumeSnapshot.parse({
      metadata: { name: 'ubuntu-r1', namespace: 'vmdi-farm' },
      spec: { volumeSnapshotClassName: 'class', source: {} },
      status: { readyToUse: true, restoreSize },
    }),
    claim: undefined,
    cloneSource: undefined,
    rendered: renderClaimSpec(
      { ...dataVolume, spec: { ...dataVolume.spec, storage: { ...dataVolume.spec.storage, volumeMode } } },
      [StorageClass.parse({ metadata: { name: 'gp3' }, provisioner: 'ebs.csi.aws.com' })],
      { 'ebs.csi.aws.com': { accessModes: ['ReadWriteOnce'], volumeMode: 'Block' } },
    ),
    waitsForConsumer: false,
    nowMs: 0,
  });
  const claim = writes.find((write) => write.do === 'create')?.object as Claim | undefined;
  return bytesOf(claim?.spec.resources?.requests?.storage ?? JSON.stringify(writes));
}

interface Snapshot {
  diskSize: string;
  restoreSize: string;
  volumeMode: string;
}

/** The snapshot that was cloned in a scenario: the smallest claim was restored from it and has its size. */
function recorded(scenario: string, diskSize: string): Snapshot {
  const claims = readScenario(scenario)
    .filter(({ type, object }) => type === 'ADDED' && object.kind === Claim.kind)
    .map(({ object }) => Claim.parse(object))
    .sort((a, b) => sizeOf(a) - sizeOf(b));
  const { resources, volumeMode = '' } = claims[0]?.spec ?? {};
  return { diskSize, restoreSize: resources?.requests?.storage ?? '', volumeMode };
}

const sizeOf = ({ spec }: Claim) => bytesOf(spec.resources?.requests?.storage ?? '');

// A claim larger than its snapshot is resized for each machine, or copied if the class does not allow expansion.
test.each<[scenario: string, diskSize: string, wanted: string | undefined, restoreSize: number]>([
  ['50-clone-block-wffc-cross-namespace', '1Gi', undefined, 1024 ** 3],
  ['50-clone-block-wffc-cross-namespace', '1Gi', '512Mi', 1024 ** 3],
  ['52-clone-filesystem-expanded', '1Gi', undefined, 1_138_166_334],
  ['52-clone-filesystem-expanded', '1Gi', '1Gi', 1_138_166_334],
  ['52-clone-filesystem-expanded', '1Gi', '512Mi', 1_138_166_334],
  ['52-clone-filesystem-expanded', '1Gi', '1080Mi', 1_138_166_334],
  ['53-clone-filesystem-host-assisted', '256Mi', undefined, 284_541_584],
  ['54-clone-same-namespace', '1Gi', undefined, 1_138_166_334],
])(
  '%s: on an image of %s, a machine that requests %s gets a claim as large as the snapshot',
  (scenario, diskSize, wanted, restoreSize) => {
    const snapshot = recorded(scenario, diskSize);
    expect(bytesOf(snapshot.restoreSize)).toBe(restoreSize);
    expect(claimOn(snapshot, wanted)).toBe(restoreSize);
  },
);

test.each<[scenario: string, diskSize: string, wanted: string, bytes: number]>([
  ['51-clone-block-larger', '1Gi', '2Gi', 2 * 1024 ** 3],
  ['52-clone-filesystem-expanded', '1Gi', '2Gi', Math.ceil(2 * 1024 ** 3 * 1.06)],
  // The image was made smaller, but its snapshot is from before.
  ['51-clone-block-larger', '256Mi', '512Mi', 1024 ** 3],
])(
  '%s: on an image of %s, a machine that requests %s gets that size, or the size of the snapshot if it is larger',
  (scenario, diskSize, wanted, bytes) => {
    expect(claimOn(recorded(scenario, diskSize), wanted)).toBe(bytes);
  },
);
