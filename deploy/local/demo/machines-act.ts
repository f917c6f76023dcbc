import { setTimeout as sleep } from 'node:timers/promises';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Event } from '../../../shared/kinds/core/event.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { requestedByLabel, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { type KubernetesObject, keyOf, type ObjectReference, type Resource } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { applyManifests } from '../../manifests.ts';
import { heldMessage } from '../up/held-message.ts';
import { type Act, countDownloads, type Stage, secondsBetween } from './act.ts';
import { lateImage } from './images.ts';
import { type DemoMachine, demoMachines, heldImage, machineManifest, machineNamespace } from './machines.ts';
import { madeForMachines } from './made-kinds.ts';
import { type DemoWorld, where } from './set-up.ts';
import { type Shown, type Step, shownOf, stateOf, watchOf } from './watcher.ts';

/** How long an image that is being deleted is left held before the next of its machines goes. */
const heldMs = 1500;

/** The second act: machines on images that exist, that do not exist yet, and that are deleted under them. */
export function playMachines(world: DemoWorld, stage: Stage) {
  const { seen, startedMs } = stage;
  const { kube } = world.cluster;
  const late = lateImage();
  const machines = demoMachines(world.images, late);
  const deleted = machines.filter(({ expected }) => expected.isDeleted).map(({ name }) => name);
  const staying = machines.filter(({ expected }) => !expected.isDeleted).map(({ name }) => name);
  const downloads = countDownloads(world, late, stage.signal);
  /** When its deletion was asked for, by name. */
  const askedMs = new Map<string, number>();
  /** The uids of the images that were made meanwhile, by name: more than one where an image was made twice. */
  const made = new Map<string, Set<string>>();
  const tooEarly: string[] = [];
  const imageRef = (name: string) => ({ namespace: where.namespace, name });
  const machineRef = (name: string) => ({ namespace: machineNamespace, name });
  const imageOf = (name: string) => seen.one(VMDiskImage, imageRef(name));
  const machineOf = (name: string) => seen.one(VirtualMachine, machineRef(name));
  const isGone = (name: string) => (machineOf(name) ?? imageOf(name))?.goneAtMs !== undefined;
  const isReady = (name: string) => machineOf(name)?.object.status?.phase === 'Ready';
  const warningsOf = (name: string) =>
    seen
      .all(Event)
      .map((event) => event as unknown as Warning)
      .filter(
        ({ type, involvedObject }) =>
          type === 'Warning' && involvedObject.apiVersion === VirtualMachine.apiVersion && involvedObject.name === name,
      )
      .map(({ reason, message }) => ({ reason, message }));
  const held = () =>
    (imageOf(heldImage)?.steps ?? []).flatMap(({ message, atMs }) => (message === undefined ? [] : { message, atMs }));
  const leftOver = () => seen.names(madeForMachines, (object) => !isInUse(object, seen.all(VMDiskImage), staying));
  const manifestOf = (machine: DemoMachine) => machineManifest(machine, { ...where, storeUrl: world.store.url });
  const remove = (kind: Resource, short: string, { namespace, name }: ObjectReference) => {
    stage.command(`kubectl delete ${short} ${name} -n ${namespace}`);
    askedMs.set(name, Date.now());
    return kube.delete(kind, { namespace, name });
  };
  async function checkDisk(name: string) {
    const disk = await kube.get(DataVolume, { namespace: machineNamespace, name: `${name}-root` });
    if (disk?.status?.phase !== 'Succeeded')
      tooEarly.push(`${name} was Ready while its disk was ${disk?.status?.phase ?? 'not there'}`);
  }

  /** The held image names these machines, or is gone. */
  const isLeftTo = (names: readonly string[]) =>
    holdersIn(held().at(-1)?.message).join() === names.map((name) => keyOf(machineRef(name))).join() ||
    isGone(heldImage);
  const isTold = ({ name, expected }: DemoMachine) => expected.contradicted.length === 0 || warningsOf(name).length > 0;

  const imageView = (name: string) => {
    const { phase, remark = '' } = seen.shown(VMDiskImage, imageRef(name)) ?? {};
    const holders = holdersIn(remark);
    return {
      name,
      references: isGone(name) ? undefined : imageOf(name)?.object.status?.references?.count,
      phase,
      // The whole message does not fit beside a table.
      remark: holders.length > 0 ? `held by ${holders.join(', ')}` : remark,
    };
  };
  const machineView = ({ name, image }: DemoMachine) => ({
    name,
    image,
    ipAddress: (!isGone(name) && machineOf(name)?.object.status?.ipAddress) || '',
    ...(seen.shown(VirtualMachine, machineRef(name)) ?? { phase: '', remark: '' }),
  });
  const machineResult = ({ name, image, expected }: DemoMachine) => {
    const { object, steps = [] } = machineOf(name) ?? {};
    const { phase = '', message = '', ipAddress = '' } = object?.status ?? {};
    return {
      name,
      image,
      expected,
      /** The last that was seen. */
      phase,
      message,
      ipAddress,
      hasWaited: hasWaited(steps),
      isGone: isGone(name),
      /** From its creation; null where it never was. */
      readyAfterSeconds: secondsBetween(steps[0]?.atMs, steps.find((step) => step.phase === 'Ready')?.atMs),
      deletedAtSeconds: secondsBetween(startedMs, askedMs.get(name)),
      warnings: warningsOf(name),
      steps: steps
        .filter(({ isTerminating }) => !isTerminating)
        .map((step) => ({
          phase: step.phase,
          message: step.message ?? '',
          atSeconds: secondsBetween(startedMs, step.atMs),
        })),
    };
  };

  return {
    watches: [
      ...madeForMachines.map((kind) => watchOf({ kind })),
      watchOf({ kind: Event }),
      watchOf({
        kind: VMDiskImage,
        state: (image) => ({ ...stateOf(image), message: heldMessage(image) }),
        shown: shownImage,
        saw: ({ metadata }, before, isGone) => {
          if (!before && !isGone) made.set(metadata.name, (made.get(metadata.name) ?? new Set()).add(metadata.uid));
        },
      }),
      watchOf({
        kind: VirtualMachine,
        state: (machine) => ({ ...stateOf(machine), message: machine.status?.message ?? '' }),
        shown: shownOf,
        saw: ({ metadata, status }, before) => {
          const steps = machineOf(metadata.name)?.steps ?? [];
          const isFirst = steps.filter(({ phase }) => phase === 'Ready').length === 1;
          if (status?.phase === 'Ready' && before?.status?.phase !== 'Ready' && isFirst)
            void checkDisk(metadata.name).catch(() => {});
        },
      }),
    ],
    async play() {
      stage.command('kubectl apply -f machines.yaml');
      await applyManifests(kube, [namespaceManifest, ...machines.map(manifestOf)]);
      await seen.until(() => deleted.every(isReady));

      await remove(VMDiskImage, 'vmdi', imageRef(heldImage));
      for (const [index, name] of deleted.entries()) {
        await seen.until(() => isLeftTo(deleted.slice(index)));
        // That it stays is to be seen.
        await sleep(heldMs);
        await remove(VirtualMachine, 'otvm', machineRef(name));
        await seen.until(() => isGone(name));
      }
      await seen.until(
        () => isGone(heldImage) && staying.every(isReady) && machines.every(isTold) && leftOver().length === 0,
      );
    },
    view: () => ({
      images: [...new Set(machines.map(({ image }) => image))].map(imageView),
      machines: machines.map(machineView),
    }),
    result: () => ({
      machines: machines.map(machineResult),
      /** What became of the image that was deleted while machines held it. */
      deletion: {
        image: heldImage,
        askedAtSeconds: secondsBetween(startedMs, askedMs.get(heldImage)),
        /** The message of DeletionHeld at each change, and the machines it named. */
        held: held().map(({ atMs, message }) => ({
          atSeconds: secondsBetween(startedMs, atMs),
          by: holdersIn(message),
          message,
        })),
        goneAtSeconds: secondsBetween(startedMs, imageOf(heldImage)?.goneAtMs),
      },
      /** The images that were made meanwhile, how often, and the machine that asked first. */
      made: [...made].map(([name, uids]) => ({
        name,
        times: uids.size,
        requestedBy: imageOf(name)?.object.metadata.labels?.[requestedByLabel] ?? '',
      })),
      /** The image that was not there when its machines were applied. */
      late: downloads().image,
      /** What else was downloaded. */
      otherBytesDownloaded: downloads().otherBytesDownloaded,
      /** What was done before its time. */
      tooEarly,
      leftOver: leftOver(),
    }),
  } satisfies Act<unknown, unknown>;
}

interface Warning {
  type: string;
  involvedObject: { apiVersion: string; name: string };
  reason: string;
  message: string;
}

const namespaceManifest = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: machineNamespace },
} as unknown as KubernetesObject;

/** Whether it is the snapshot of an existing image, part of a machine that stays, or what the admin created. */
function isInUse({ kind, metadata }: KubernetesObject, images: readonly VMDiskImage[], staying: readonly string[]) {
  const { name, namespace, labels } = metadata;
  if (kind === VolumeSnapshot.kind) return images.some((image) => image.metadata.uid === labels?.[imageUidLabel]);
  if (namespace !== machineNamespace) return kind === Secret.kind;
  return staying.some(
    (machine) =>
      [machine, `${machine}-root`, `${machine}-cloud-init`].includes(name) ||
      name.startsWith(`virt-launcher-${machine}-`),
  );
}

/** A message said that it waited for its image. */
export const hasWaited = (steps: readonly Step[]) =>
  steps.some(({ phase, message }) => phase === 'Provisioning' && message?.startsWith('Waiting for VMDiskImage'));

/** The machines that DeletionHeld names, in order. */
const holdersIn = (message = ''): string[] =>
  [...message.matchAll(new RegExp(`${machineNamespace}/[a-z0-9-]+`, 'g'))].map(([name]) => name);

function shownImage(image: VMDiskImage): Shown {
  const { phase, isTerminating } = stateOf(image);
  if (isTerminating) return { phase: 'Terminating', remark: heldMessage(image) ?? '' };
  if (phase === '') return { phase, remark: `made for ${image.metadata.labels?.[requestedByLabel] ?? 'nobody'}` };
  return { phase, remark: phase === 'Succeeded' ? 'ready to clone' : '' };
}
