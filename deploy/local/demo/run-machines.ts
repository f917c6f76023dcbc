import { setTimeout as sleep } from 'node:timers/promises';
import { requestedByLabel, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { applyManifests } from '../../manifests.ts';
import type { ShownPhase } from '../../terminal/phase-style.ts';
import { heldMessage } from '../up/held-message.ts';
import { type Act, type ActOptions, countDownloads, secondsBetween } from './act.ts';
import { lateImage } from './images.ts';
import { type DemoMachine, demoMachines, heldImage, machineManifest, machineNamespace } from './machines.ts';
import { type MachinesView, renderMachines } from './machines-frame.ts';
import type { DeletionResult, MachineResult, MachinesResult } from './result.ts';
import { type DemoWorld, where } from './set-up.ts';
import { type MachinesWatching, watchMachines } from './watch-machines.ts';
import { hasWaited, readyAtMs, type WatchedMachine } from './watched-machine.ts';

/** How long an image that is being deleted is left held before the next of its machines goes. */
const heldMs = 1500;

/** The second act: machines on images that are there, that are not there yet, and that are deleted under them. */
export async function beginMachines(world: DemoWorld, options: ActOptions): Promise<Act<MachinesResult>> {
  const { kube } = world.cluster;
  const late = lateImage();
  const machines = demoMachines(world.images, late);
  const storeUrl = world.store.url;
  const sent = countDownloads(world, late, options.watchSignal);
  const asked = new Map<string, number>();
  const watching = await watchMachines({
    kube,
    imageNamespace: where.namespace,
    signal: options.watchSignal,
    onMachine: (machine) => options.onStep({ name: machine.name, ...shownMachine(machine) }),
    onImage: (image) => options.onStep({ name: image.metadata.name, ...shownImage(image) }),
    onGone: (name) => options.onStep({ name, phase: 'Gone', remark: '' }),
  });
  const remove = async (resource: typeof VirtualMachine | typeof VMDiskImage, name: string) => {
    const isImage = resource.kind === VMDiskImage.kind;
    const namespace = isImage ? where.namespace : machineNamespace;
    options.onCommand(`kubectl delete ${isImage ? 'vmdi' : 'otvm'} ${name} -n ${namespace}`);
    asked.set(name, Date.now());
    await kube.delete(resource, { namespace, name });
  };
  const isGone = (name: string) => watching.goneAtMs.has(name);
  const deleted = machines.filter(({ expected }) => expected.isDeleted).map(({ name }) => name);

  async function play() {
    options.onReady((look) => renderMachines(viewOf(watching, machines, options.startedMs), look));
    await applyManifests(kube, [namespaceManifest]);
    options.onCommand(`kubectl apply -f machines.yaml`);
    for (const machine of machines) {
      asked.set(machine.name, Date.now());
      await applyManifests(kube, [machineManifest(machine, { ...where, storeUrl })]);
    }
    await watching.until(() => deleted.every((name) => watching.machines.get(name)?.phase === 'Ready'));
    await remove(VMDiskImage, heldImage);
    for (const [index, name] of deleted.entries()) {
      const left = deleted.slice(index).map((other) => `${machineNamespace}/${other}`);
      await watching.until(() => holdersIn(watching.held.at(-1)?.message).join() === left.join() || isGone(heldImage));
      // That it stays is to be seen.
      await sleep(heldMs);
      await remove(VirtualMachine, name);
      await watching.until(() => isGone(name));
    }
    await watching.until(() => isGone(heldImage) && isAtRest(watching, machines));
  }

  return {
    over: play(),
    result: (): MachinesResult => ({
      machines: machines.map((machine) => machineResult(machine, watching, asked, options.startedMs)),
      deletion: deletionResult(watching, asked, options.startedMs),
      made: [...watching.made].map(([name, uids]) => ({
        name,
        times: uids.size,
        requestedBy: watching.images.get(name)?.metadata.labels?.[requestedByLabel] ?? '',
      })),
      late: {
        name: late.name,
        bytesDownloaded: sent.image,
        bytesNeeded: late.content?.length ?? 0,
      },
      otherBytesDownloaded: sent.others,
      tooEarly: [...watching.tooEarly],
      leftOver: watching.leftOver(stayingOf(machines)),
    }),
  };
}

const namespaceManifest = {
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: machineNamespace },
} as unknown as KubernetesObject;

const stayingOf = (machines: readonly DemoMachine[]) =>
  machines.filter(({ expected }) => !expected.isDeleted).map(({ name }) => name);

/** Whoever stays is Ready and has been told what there is to tell, and nothing is on its way any more. */
const isAtRest = (watching: MachinesWatching, machines: readonly DemoMachine[]) =>
  stayingOf(machines).every((name) => watching.machines.get(name)?.phase === 'Ready') &&
  machines.every(({ name, expected }) => expected.contradicted.length === 0 || watching.warningsOf(name).length > 0) &&
  watching.leftOver(stayingOf(machines)).length === 0;

/** The machines that DeletionHeld names, in order. */
export const holdersIn = (message = ''): string[] =>
  [...message.matchAll(new RegExp(`${machineNamespace}/[a-z0-9-]+`, 'g'))].map(([name]) => name);

function shownMachine({ phase, message, isTerminating }: WatchedMachine): { phase: ShownPhase; remark: string } {
  if (isTerminating) return { phase: 'Terminating', remark: '' };
  return { phase, remark: phase === '' ? 'applied' : message };
}

function shownImage(image: VMDiskImage): { phase: ShownPhase; remark: string } {
  const { labels, deletionTimestamp } = image.metadata;
  if (deletionTimestamp) return { phase: 'Terminating', remark: heldMessage(image) ?? '' };
  const phase = image.status?.phase ?? '';
  if (phase === '') return { phase, remark: `made for ${labels?.[requestedByLabel] ?? 'nobody'}` };
  return { phase, remark: phase === 'Succeeded' ? 'ready to clone' : '' };
}

/** The whole message does not fit beside a table. */
function heldInShort(image: VMDiskImage): { remark: string } | undefined {
  const message = heldMessage(image);
  return message === undefined ? undefined : { remark: `held by ${holdersIn(message).join(', ')}` };
}

function viewOf(watching: MachinesWatching, machines: readonly DemoMachine[], startedMs: number): MachinesView {
  const names = [...new Set(machines.map(({ image }) => image))];
  return {
    elapsedMs: Date.now() - startedMs,
    images: names.map((name) => {
      const image = watching.images.get(name);
      const references = image?.status?.references?.count;
      if (image) return { name, references, ...shownImage(image), ...heldInShort(image) };
      return { name, references, phase: watching.goneAtMs.has(name) ? 'Gone' : undefined, remark: '' };
    }),
    machines: machines.map(({ name, image }) => {
      const machine = watching.machines.get(name);
      if (watching.goneAtMs.has(name)) return { name, image, phase: 'Gone', ipAddress: '', remark: '' };
      const shown = machine ? shownMachine(machine) : { phase: '' as const, remark: '' };
      return { name, image, ipAddress: machine?.ipAddress ?? '', ...shown };
    }),
  };
}

function machineResult(
  { name, image, expected }: DemoMachine,
  watching: MachinesWatching,
  asked: ReadonlyMap<string, number>,
  startedMs: number,
): MachineResult {
  const seen = watching.machines.get(name);
  const readyMs = seen && readyAtMs(seen);
  const first = seen?.steps[0]?.atMs;
  return {
    name,
    image,
    expected,
    phase: seen?.phase ?? '',
    message: seen?.message ?? '',
    ipAddress: seen?.ipAddress ?? '',
    hasWaited: seen !== undefined && hasWaited(seen),
    isGone: watching.goneAtMs.has(name),
    readyAfterSeconds: readyMs === undefined || first === undefined ? null : (readyMs - first) / 1000,
    deletedAtSeconds: expected.isDeleted ? secondsBetween(startedMs, asked.get(name)) : null,
    warnings: watching.warningsOf(name).map(({ reason, message }) => ({ reason, message })),
    steps: (seen?.steps ?? []).map(({ phase, message, atMs }) => ({
      phase,
      message,
      atSeconds: (atMs - startedMs) / 1000,
    })),
  };
}

const deletionResult = (
  { held, goneAtMs }: MachinesWatching,
  asked: ReadonlyMap<string, number>,
  startedMs: number,
): DeletionResult => ({
  image: heldImage,
  askedAtSeconds: secondsBetween(startedMs, asked.get(heldImage)),
  held: held.map(({ atMs, message }) => ({ atSeconds: (atMs - startedMs) / 1000, by: holdersIn(message), message })),
  goneAtSeconds: secondsBetween(startedMs, goneAtMs.get(heldImage)),
});
