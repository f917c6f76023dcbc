import type { Batch, Context, KnownBeside } from '../../../shared/function.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { logError } from '../../../shared/runtime/log.ts';
import { unreadable } from '../../../shared/runtime/unreadable.ts';

/** What all stages of one reconcile read with, and which of their reads failed. */
export interface Reader extends Pick<Context, 'kube' | 'cached' | 'nowMs'> {
  /** What is performed beside this reconcile. */
  beside: KnownBeside;
  batch: Batch;
  /** Of all unfinished images it is decided whether they are as wanted. */
  isAboutAll: boolean;
  /** After one of these not all slots are known. */
  failures: Failure[];
  /** Those of Secrets and ConfigMaps, which show no slots. */
  inputFailures: Failure[];
}

/** A failed read, and the images whose decisions need it. */
interface Failure {
  error: unknown;
  concerns(image: VMDiskImage): boolean;
}

/** The read, or something else if it fails; no slot is given then, and no object reports why. */
export const reading = <T>(
  { failures }: Reader,
  read: Promise<T>,
  otherwise: T,
  concerns: Failure['concerns'] = () => false,
): Promise<T> =>
  read.catch((error: unknown) => {
    logError('start-sync', error);
    failures.push({ error, concerns });
    return otherwise;
  });

/** A read that fails, fails in the list as well or is one of an image that the list reads without. */
export const ifFailed = (error: unknown): undefined => void logError('start-sync', error);

/** The images that a failed read concerns, each with the first such failure. */
export const skippedOf = (images: readonly VMDiskImage[], { failures, inputFailures }: Reader) =>
  images.flatMap((image) => {
    const failure = [...failures, ...inputFailures].find(({ concerns }) => concerns(image));
    return failure ? [{ uid: image.metadata.uid, why: unreadable(image.metadata, failure.error) }] : [];
  });

export const uidsOf = (images: readonly VMDiskImage[]) => images.map(({ metadata }) => metadata.uid);

/** Whether an image has one of these uids. */
export const isAmong = (uids: readonly string[]) => {
  const known = new Set(uids);
  return ({ metadata }: VMDiskImage) => known.has(metadata.uid);
};
