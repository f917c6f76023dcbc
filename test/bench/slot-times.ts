import type { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { imageUidLabel, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { WatchEvent } from '../../shared/runtime/kube.ts';

/**
 * When slots came free and when downloads began, as a watch heard of it. A slot is free when the attempt is over in the
 * image's status and its DataVolume is Succeeded or gone, whichever comes last; the simulation has no importer Pods.
 */
export class SlotTimes {
  readonly #over = new Map<string, number>();
  readonly #done = new Map<string, number>();
  readonly #syncing = new Set<string>();
  readonly #begun: number[] = [];

  heardOfImage({ object: { metadata, status } }: WatchEvent<VMDiskImage>, nowMs: number) {
    const { uid } = metadata;
    if (status?.phase === 'Syncing') this.#syncing.add(uid);
    else if (this.#syncing.delete(uid)) this.#over.set(uid, nowMs);
  }

  heardOfDataVolume({ type, object }: WatchEvent<DataVolume>, nowMs: number) {
    const uid = object.metadata.labels?.[imageUidLabel] ?? '';
    if (type === 'ADDED') this.#begun.push(nowMs);
    const isDone = type === 'DELETED' || object.status?.phase === 'Succeeded';
    if (isDone && !this.#done.has(uid)) this.#done.set(uid, nowMs);
  }

  /** How long each free slot waited while images did: the nth to come free is given to the nth after the first `slots`. */
  handOvers(slots: number): number[] {
    const freed = [...this.#over]
      .map(([uid, overMs]) => Math.max(overMs, this.#done.get(uid) ?? Number.POSITIVE_INFINITY))
      .sort((a, b) => a - b);
    return this.#begun
      .toSorted((a, b) => a - b)
      .slice(slots)
      .map((begunMs, index) => begunMs - (freed[index] ?? Number.NaN));
  }
}
