import { downloadShareOf } from '../../../shared/images/download-share.ts';
import { byPlace, placeOf } from '../../../shared/images/queue.ts';
import type { Holder } from '../../../shared/images/slots.ts';
import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import type { ShownPhase } from '../../terminal/phase-style.ts';
import { heldMessage } from './held-message.ts';

/** What `npm start` shows of its cluster. */
export interface ClusterView {
  images: readonly ImageRow[];
  machines: readonly MachineRow[];
  /** The newest last. */
  facts: readonly Fact[];
}

export interface ImageRow {
  /** namespace/name. */
  name: string;
  phase: string;
  /** Share of the download, as far as anybody knows. */
  share: number | undefined;
  /** Which slot it holds, from 1. */
  slot: number | undefined;
  /** What it waits for, if it does. */
  waiting: string;
}

interface MachineRow {
  /** namespace/name. */
  name: string;
  phase: ShownPhase;
  /** The image it names, with its namespace where that is another. */
  image: string;
  ipAddress: string;
  message: string;
}

/** Something that happened to an image or a machine. */
export interface Fact {
  time: string;
  /** namespace/name of the image or machine. */
  about: string;
  fact: string;
  message: string;
}

/** What is known beyond the images and machines themselves. */
export interface Known {
  nowMs: number;
  holders: readonly Holder[];
  facts: readonly Fact[];
  /** How much of the image's object the present attempt has downloaded, from 0 to 1; undefined if it is unknown. */
  shareOf(image: VMDiskImage): number | undefined;
}

/** Builds the view: images that download first, then the queue in its order, then all others. */
export function clusterView(
  images: readonly VMDiskImage[],
  machines: readonly VirtualMachine[],
  known: Known,
): ClusterView {
  const line = images.filter(({ status }) => status?.phase === 'Queued').sort(byTurn);
  return {
    facts: known.facts,
    images: [...images].sort(byUrgency).map((image) => ({
      name: keyOf(image.metadata),
      phase: image.status?.phase ?? '',
      share: shareOf(image, known),
      slot: known.holders.findIndex(({ uid }) => uid === image.metadata.uid) + 1 || undefined,
      waiting: waitingOf(image, line.indexOf(image), known.nowMs),
    })),
    machines: [...machines].sort(byNeed).map(machineRow),
  };
}

const byTurn = (a: VMDiskImage, b: VMDiskImage) => byPlace(placeOf(a), placeOf(b));

const urgencies = ['Syncing', 'Snapshotting', 'Queued', '', 'Retrying', 'Failed', 'Succeeded'];

const byUrgency = (a: VMDiskImage, b: VMDiskImage) =>
  urgencies.indexOf(a.status?.phase ?? '') - urgencies.indexOf(b.status?.phase ?? '') ||
  byTurn(a, b) ||
  keyOf(a.metadata).localeCompare(keyOf(b.metadata));

function shareOf(image: VMDiskImage, known: Known): number | undefined {
  const phase = image.status?.phase;
  if (phase === 'Succeeded') return 1;
  return (phase === 'Syncing' ? known.shareOf(image) : undefined) ?? downloadShareOf(image);
}

function waitingOf(image: VMDiskImage, placeInLine: number, nowMs: number): string {
  const { status, metadata } = image;
  const isHeld = heldMessage(image) !== undefined;
  if (metadata.deletionTimestamp) return isHeld ? 'its machines, then it is deleted' : 'to be deleted';
  const secondsTo = (time: string | undefined) => Math.round((Date.parse(time ?? '') - nowMs) / 1000) || 0;
  if (status?.phase === 'Queued') return `number ${placeInLine + 1} for ${Math.max(0, -secondsTo(status.queuedAt))}s`;
  if (status?.phase === 'Retrying') return `again in ${Math.max(0, secondsTo(status.nextAttemptAt))}s`;
  if (status?.phase === 'Snapshotting') return 'its snapshot';
  return '';
}

const needs: readonly ShownPhase[] = ['', 'Provisioning', 'Failed', 'Terminating', 'Ready'];

const phaseOf = ({ metadata, status }: VirtualMachine): ShownPhase =>
  metadata.deletionTimestamp ? 'Terminating' : (status?.phase ?? '');

const byNeed = (a: VirtualMachine, b: VirtualMachine) =>
  needs.indexOf(phaseOf(a)) - needs.indexOf(phaseOf(b)) || keyOf(a.metadata).localeCompare(keyOf(b.metadata));

function machineRow(machine: VirtualMachine): MachineRow {
  const { metadata, spec, status } = machine;
  const { namespace, name } = spec.vmDiskImageRef;
  return {
    name: keyOf(machine.metadata),
    phase: phaseOf(machine),
    image: namespace === metadata.namespace ? name : `${namespace}/${name}`,
    ipAddress: status?.ipAddress ?? '',
    message: status?.message ?? '',
  };
}
