import { transition } from '../../../shared/images/status.ts';
import type { Phase, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { at, aVMDiskImage, start } from '../../support/builders/images.ts';

/** What generic tools take an object of ours for; a row of the table in deploy/production/README.md. */
export interface State {
  state: string;
  image: VMDiskImage;
  /** The columns PHASE, and of a deleted image REASON and TERMINATING. */
  kubectl: string;
  kstatus: string;
  argo: string;
  flux: string;
}

/** The image as the functions write it when it gets into this phase. */
function becoming(to: Phase, image = aVMDiskImage()): VMDiskImage {
  const [patch] = transition(image, { to, reason: 'Queued', message: 'Why it is so.', nowMs: start });
  if (patch?.do !== 'patchStatus') throw new Error('expected a transition to write the status first');
  return { ...image, status: { ...image.status, ...patch.status } };
}

const snapshot = { name: 'ubuntu-r1', revision: 1 };
const succeeded = becoming('Succeeded', aVMDiskImage({ status: { revision: 1, snapshot } }));
const of = (image: VMDiskImage, metadata: Partial<VMDiskImage['metadata']>) => ({
  ...image,
  metadata: { ...image.metadata, ...metadata },
});
const underWay = { kstatus: 'InProgress', argo: 'Progressing', flux: 'InProgress' };

export const states: readonly State[] = [
  {
    state: 'new, no function has looked',
    image: aVMDiskImage({ status: { observedGeneration: -1 } }),
    kubectl: '',
    ...underWay,
  },
  { state: 'in the queue', image: becoming('Queued'), kubectl: 'Queued', ...underWay },
  { state: 'downloading', image: becoming('Syncing'), kubectl: 'Syncing', ...underWay },
  { state: 'between two attempts', image: becoming('Retrying'), kubectl: 'Retrying', ...underWay },
  { state: 'usable', image: succeeded, kubectl: 'Succeeded', kstatus: 'Current', argo: 'Healthy', flux: 'Current' },
  {
    state: 'usable, the next revision downloading',
    image: becoming('Syncing', succeeded),
    kubectl: 'Syncing',
    ...underWay,
  },
  {
    state: 'usable, its spec just changed',
    image: of(succeeded, { generation: 2 }),
    kubectl: 'Succeeded',
    ...underWay,
  },
  {
    state: 'failed',
    image: becoming('Failed'),
    kubectl: 'Failed',
    kstatus: 'Failed',
    argo: 'Degraded',
    flux: 'Failed',
  },
  {
    state: 'deleted, and held by a machine',
    image: of(succeeded, { deletionTimestamp: at(60) }),
    kubectl: 'Succeeded DeletionHeld 5m',
    ...underWay,
    kstatus: 'Terminating',
  },
];
