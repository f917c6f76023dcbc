import type { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { imageUidLabel } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { WatchEvent } from '../../shared/runtime/kube.ts';

/**
 * When downloads ended and began, as a watch heard of it. A slot is free when its DataVolume is Succeeded or deleted: the bench has no
 * importer Pods.
 */
export class SlotTimes {
  readonly #ended = new Map<string, number>();
  readonly #begun: number[] = [];

  heardOfDataVolume({ type, object }: WatchEvent<DataVolume>, nowMs: number) {
    const uid = object.metadata.labels?.[imageUidLabel] ?? '';
    if (type === 'ADDED') this.#begun.push(nowMs);
    const isOver = type === 'DELETED' || object.status?.phase === 'Succeeded';
    if (isOver && !this.#ended.has(uid)) this.#ended.set(uid, nowMs);
  }

  /** How long each free slot waited while images did: the nth to come free is given to the nth after the first `slots`. */
  handOvers(slots: number): number[] {
    const freed = [...this.#ended.values()].sort((a, b) => a - b);
    return this.#begun
      .toSorted((a, b) => a - b)
      .slice(slots)
      .map((begunMs, index) => begunMs - (freed[index] ?? Number.NaN));
  }
}
