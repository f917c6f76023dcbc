import { expect } from 'vitest';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { untilEventAbout } from './events.ts';
import { putImage, syncImage } from './images.ts';
import { createMachine, templateOf, untilMachine } from './machines.ts';
import { deleteMachine, untilCount } from './references.ts';
import { byName, refIn, type Story, setPolicy, untilGone, untilPhase, type World } from './world.ts';

/** A branch of the flow chart or a question of the discussion, the answer it got, and the name of the story that shows it. */
export type Shown = readonly [asked: string, answer: string, story: string];

const vmdisExist = '"VMDIs Exist": a machine whose image exists is Ready on that image, without another download';
const whatIfItDoes =
  '"And what if it does [exist]?": its fields count, not those of the template; the machine is Ready on it and reports the mismatch';
const downtime =
  '"recreated unnecessarily because there\'s some downtime between uses": a lab that ends and comes back finds its image under prune Never';

/** The flow chart of the users' proposal, branch by branch. */
const branches: readonly Shown[] = [
  ['CheckVMDI → Provisioning: VMDIs Exist', 'the image is taken as it is', vmdisExist],
  [
    'CheckVMDI → StandUpVMDIs: VMDIs Missing',
    'the image is made from the template and downloaded',
    'a machine that comes before its image: the image is made from its template and downloaded, once',
  ],
  [
    'StandUpVMDIs → Provisioning: VMDIs Ready',
    'only then is anything made of the machine',
    'launched before its image is synced, a machine waits with nothing made, and ends Ready without anyone’s hand',
  ],
  [
    'Provisioning → VirtualMachineFailed: Unrecoverable error occured.',
    'Failed in words, and it heals when the cause goes',
    'an image that Failed fails its machine, in its words; both heal when a new sync is requested',
  ],
  [
    'Provisioning → VirtualMachineReady: Success.',
    'disk, logins and address exist, and it runs',
    'from apply to Ready: a machine gets its image, its disk, its logins and its address, and runs',
  ],
];

/** The questions that the proposal was asked. That two controllers stay apart is seen in functions/, not in a story. */
const questions: readonly Shown[] = [
  [
    'Does every VM try to delete its respective VMDiskImage when it is done?',
    'no: the image stays',
    'the image of a machine is in a namespace of its own, says who asked, and stays when the machine goes',
  ],
  [
    'Are VMDiskImage resources going to be in a semi-constant state of Terminated?',
    'no: only an image that a user deletes, and only while machines hold it',
    'the machines first: then nothing holds the image',
  ],
  [
    'VMs and VMDIs will not be in the same namespace',
    'a disk is cloned across namespaces',
    'a disk is cloned from the namespace of images into that of the machine',
  ],
  ['Recreated because of some downtime between uses?', 'no: nothing is deleted by itself under prune Never', downtime],
  [
    'Explicitly deleted while it is referenced by running labs?',
    'it sticks around until those labs go away',
    'the image first: it stays with its snapshot, reports who holds it, and is deleted with the last of them',
  ],
  [
    'And no new ones are using it?',
    'who comes after the deletion does not hold it',
    'a machine that comes when its image is being deleted holds nothing: it gets the image that is created again',
  ],
  [
    'Delete them right away, when references go to zero?',
    'with pruneAfter 0s; a machine that comes at the last moment saves its image',
    'a reference that comes at the last moment saves the image, and no image goes from under its machine',
  ],
  [
    'Delete them after some time?',
    'after pruneAfter',
    'an unused image is deleted after pruneAfter, with its snapshot, and an Event says why',
  ],
  [
    'Just know that they are eligible?',
    'under prune DryRun an Event reports it',
    'under DryRun an Event says once what would go, and nothing goes; then the policy is switched on',
  ],
  [
    'Know what uses an image?',
    'status.references and unreferencedSince say it',
    'an image says who uses it right after every machine that comes or goes, and since when it is unused',
  ],
  [
    'Creating demo-vmdi with the contents of vmDiskImageTemplate?',
    'yes, where it is missing',
    "the users' own manifest of a machine applies as it stands",
  ],
  ['And what if it does exist?', 'existence trumps the template', whatIfItDoes],
  ['A mode CreateIfNotExist?', 'makes the image', 'FailIfNotExist that is changed to CreateIfNotExist makes the image'],
  [
    'A mode FailIfNotExist?',
    'Failed until a user creates the image',
    'FailIfNotExist makes no image, although there is a template: the machine is Failed, and Ready after one download once a user creates it',
  ],
];

/** Where all that the users drew and asked is shown; each of these stories exists, and runs on every cluster. */
export const shown: readonly Shown[] = [...branches, ...questions];

/** The machine's disk is a clone of that very image, which was not changed or downloaded since. */
async function isOn(world: World, machine: VirtualMachine, { metadata, spec }: VMDiskImage): Promise<void> {
  const { name } = metadata;
  expect(machine.status?.rootDisk).toMatchObject({ image: metadata.uid, revision: 1 });
  const now = await world.kube.get(VMDiskImage, refIn(world, name));
  expect(now).toMatchObject({ metadata: { uid: metadata.uid, generation: metadata.generation }, spec });
  expect(now?.metadata.deletionTimestamp).toBeUndefined();
  expect(world.history.starts().filter(({ image }) => image === name)).toHaveLength(1);
}

export const stories = byName<Story>({
  [vmdisExist]: {
    quick: true,
    run: async (world) => {
      const image = await syncImage(world, 'demo-vmdi');
      await createMachine(world, 'vm', 'demo-vmdi', { vmDiskImageTemplate: templateOf(world, 'demo-vmdi') });
      await isOn(world, await untilMachine(world, 'vm', 'Ready'), image);
    },
  },
  [whatIfItDoes]: async (world) => {
    const image = await syncImage(world, 'demo-vmdi');
    const vmDiskImageTemplate = { ...templateOf(world, 'another'), diskSize: '128Mi' };
    await createMachine(world, 'vm', 'demo-vmdi', { vmDiskImageTemplate });
    await isOn(world, await untilMachine(world, 'vm', 'Ready'), image);
    const { type, message } = await untilEventAbout(world, 'vm', 'TemplateMismatch');
    expect(type).toBe('Warning');
    expect(message).toContain('diskSize (64Mi, not 128Mi)');
    expect(message).toContain('the image counts');
  },
  [downtime]: {
    policy: { prune: 'Never' },
    run: async (world) => {
      await putImage(world, 'demo-vmdi');
      const lab = { vmDiskImageTemplate: templateOf(world, 'demo-vmdi') };
      const names = ['attacker', 'target'];
      for (const name of names) await createMachine(world, name, 'demo-vmdi', lab);
      const image = await untilPhase(world, 'demo-vmdi', 'Succeeded');
      for (const name of names) await untilMachine(world, name, 'Ready');
      for (const name of names) await deleteMachine(world, name);
      for (const name of names) await untilGone(world, DataVolume, refIn(world, `${name}-root`));
      for (const name of names) await untilGone(world, VirtualMachine, refIn(world, name));
      expect((await untilCount(world, 'demo-vmdi', 0)).status?.unreferencedSince).toBeDefined();
      // prune runs when the policy changes, and is done by the time another lab is up.
      await setPolicy(world, { pruneAfter: '0s' });
      await putImage(world, 'other');
      await createMachine(world, 'meanwhile', 'other', { vmDiskImageTemplate: templateOf(world, 'other') });
      await untilMachine(world, 'meanwhile', 'Ready');
      for (const name of names) await createMachine(world, name, 'demo-vmdi', lab);
      for (const name of names) await isOn(world, await untilMachine(world, name, 'Ready'), image);
      expect((await untilCount(world, 'demo-vmdi', 2)).status?.unreferencedSince).toBeUndefined();
    },
  },
});
