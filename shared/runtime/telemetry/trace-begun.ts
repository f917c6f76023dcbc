import type { TraceOf } from '../../actions.ts';
import { contentDigest } from '../../images/content-digest.ts';
import { VirtualMachine } from '../../kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../kinds/resource.ts';

/** The trace that begins with what was just made or published; undefined of a kind that has none. */
export function traceBegunBy(object: KubernetesObject): TraceOf | undefined {
  const { uid } = object.metadata;
  if (object.apiVersion !== VMDiskImage.apiVersion) return undefined;
  if (object.kind === VirtualMachine.kind) return { machine: { uid } };
  return object.kind === VMDiskImage.kind ? { uid, revision: revisionOf(object as VMDiskImage) } : undefined;
}

/** The revision that an image gets for what its spec says now. */
function revisionOf(image: VMDiskImage): number {
  const { phase, revision = 1, contentDigest: synced } = image.status ?? {};
  return phase && synced !== undefined && synced !== contentDigest(image) ? revision + 1 : revision;
}
