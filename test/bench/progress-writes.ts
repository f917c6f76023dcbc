import { isDeepStrictEqual } from 'node:util';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { WatchEvent } from '../../shared/runtime/kube.ts';

/** Counts the writes of images that changed only the progress. */
export class ProgressWrites {
  readonly #last = new Map<string, unknown>();
  #count = 0;

  heardOfImage({ object }: WatchEvent<VMDiskImage>) {
    const { uid } = object.metadata;
    const before = this.#last.get(uid);
    const now = withoutProgress(object);
    if (before !== undefined && isDeepStrictEqual(before, now)) this.#count++;
    this.#last.set(uid, now);
  }

  get count() {
    return this.#count;
  }
}

/** All of an image that is no progress: neither how far it is, nor which importer and DataVolume were seen at work. */
function withoutProgress({ metadata, spec, status = {} }: VMDiskImage) {
  const { resourceVersion: _version, managedFields: _fields, ...meta } = metadata;
  const { progress: _progress, dataVolume: _dataVolume, importer: _importer, ...rest } = status;
  return { meta, spec, rest };
}
