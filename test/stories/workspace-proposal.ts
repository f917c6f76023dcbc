import { expect } from 'vitest';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { madeForWorkspaces } from '../../shared/kinds/pelotech/workspace.ts';
import { putImage, syncImage } from './images.ts';
import type { Shown } from './proposal.ts';
import {
  aCluster,
  aMachine,
  baseImage,
  componentOf,
  deleteWorkspace,
  inLab,
  readyWorkspace,
  workspaceStories,
} from './workspaces.ts';
import { untilGone } from './world.ts';

const exist = '"VMDIs Exist": a workspace whose images exist is Ready on them, without another download';
const missing = '"VMDIs Missing": the image is made from the template, says for whom, and is downloaded once';

/** The flow chart of the users' design of workspaces, branch by branch. */
const branches: readonly Shown[] = [
  ['CheckVMDI → Provisioning: VMDIs Exist', 'they are taken as they are', exist],
  ['CheckVMDI → StandUpVMDIs: VMDIs Missing', 'they are made', missing],
  [
    'StandUpVMDIs → Provisioning: VMDIs Ready',
    'nothing else of the lab is begun before',
    'an image that is still syncing at apply: nothing of the workspace is begun before it exists',
  ],
  [
    'Provisioning → WorkspaceReady: Success',
    'each stage has a condition, Ready sums them up',
    'from apply to Ready: machine, container and network of a workspace, with one status',
  ],
  [
    'Should this step fail the workspace will be moved into a Failed state',
    'with the first cause on top, and back out of it when that heals',
    'a machine that fails fails the workspace, and the workspace heals with it',
  ],
  [
    'WorkspaceReady → WorkspaceDeleted: Delete Triggered',
    'at any time, not only when it is Ready',
    'a workspace deleted as soon as it is created leaves nothing',
  ],
  [
    'CheckRef → RemoveVMDIs: Last Reference',
    'images that were created for workspaces are deleted after the last reference, those that were downloaded when workspaceImagesKeptFor is over',
    'a Ready workspace deleted leaves nothing, and takes the image that was made for it along',
  ],
  [
    'CheckRef → FinalizeCleanup: Reference Exists',
    'the image stays as long as a lab or a machine uses it',
    'two copies of one workspace side by side: the same addresses, the same image, nothing of the other',
  ],
  [
    'FinalizeCleanup → end',
    'the finalizer goes last, with nothing left',
    'a child that is not deleted is reported, with who holds it, and the workspace is deleted when that is released',
  ],
];

/** What the users' design says hurts, and what it argues over. */
const questions: readonly Shown[] = [
  [
    'Difficult to know when old resources are ready to be removed',
    'what the spec says no more goes',
    'a changed workspace: parts are added, changed and taken away',
  ],
  ['No self healing', 'what is deleted comes back', 'whatever is deleted comes back'],
  ['No self healing', 'what is edited is mended', 'whatever is edited is as the workspace says again'],
  [
    'No unified status: an admin must inspect each component',
    'one status with the first cause of a failure in its words',
    'an image that cannot be downloaded fails the workspace with its cause on top, and the workspace heals with it',
  ],
  [
    'A workspace stood up while a VMDiskImage is syncing gets stuck',
    'it waits, and continues by itself',
    'an image that cannot be created: the workspace says which is missing, and continues as soon as a user creates it',
  ],
];

/** Where all that the users drew and wrote of workspaces is shown; each of these stories exists, and runs on every cluster. */
export const shown: readonly Shown[] = [...branches, ...questions];

export const stories = workspaceStories({
  async [exist](world) {
    const { kube } = world;
    const image = await syncImage(world, 'base');
    const lab = await readyWorkspace(world, 'lab1', { vms: [aMachine(world, 'vm', 'base')] });
    expect(componentOf(lab, 'VMDiskImage', 'base')).toMatchObject({ phase: 'Ready', reason: 'Succeeded' });
    const machine = await kube.get(VirtualMachine, inLab('vm'));
    expect(machine?.status?.rootDisk).toMatchObject({ image: image.metadata.uid, revision: 1 });
    await deleteWorkspace(world, 'lab1');
    const left = await kube.get(VMDiskImage, baseImage(world));
    expect(left?.metadata).toMatchObject({ uid: image.metadata.uid, generation: image.metadata.generation });
    expect(left?.metadata.deletionTimestamp).toBeUndefined();
    expect(world.history.starts().filter(({ image: of }) => of === 'base')).toHaveLength(1);
  },
  async [missing](world) {
    const { kube } = world;
    await putImage(world, 'base');
    await readyWorkspace(world, 'lab1', {
      vms: [aMachine(world, 'one', 'base'), aMachine(world, 'two', 'base')],
      containerClusters: [aCluster('app')],
    });
    const image = await kube.get(VMDiskImage, baseImage(world));
    expect(image?.metadata.labels).toMatchObject({ ...madeForWorkspaces, 'pelotech.ot/requested-by': 'lab1' });
    expect(world.history.starts().filter(({ image: of }) => of === 'base')).toHaveLength(1);
    await deleteWorkspace(world, 'lab1');
    await untilGone(world, VMDiskImage, baseImage(world));
  },
});
