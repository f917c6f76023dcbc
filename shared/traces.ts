import { contentDigest } from './images/content-digest.ts';
import type { VirtualMachine } from './kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from './kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from './kinds/pelotech/workspace.ts';
import type { KubernetesObject } from './kinds/resource.ts';

/** The trace of a revision of an image. */
export interface TraceOfImage {
  uid: string;
  revision: number;
  /** The phase of the image when it was observed. */
  phase?: string;
}

/** An object that has one trace from its creation to its deletion. */
interface Life {
  uid: string;
  /** Its phase when it was observed. */
  phase?: string;
}

/** The trace of a machine. Its spans are linked with the trace of its image: that is how one finds the sync that it waited for. */
export interface TraceOfMachine {
  machine: Life;
  image?: TraceOfImage;
}

/** The trace of a workspace. Its spans are linked with the traces of its images and machines. */
export interface TraceOfWorkspace {
  workspace: Life;
  images: readonly TraceOfImage[];
  machines: readonly Life[];
}

/** The trace that a span belongs to. */
export type TraceOf = TraceOfImage | TraceOfMachine | TraceOfWorkspace | { network: Life } | { volume: Life };

export const traceOfImage = (image: VMDiskImage, revision = image.status?.revision ?? 1): TraceOfImage => ({
  ...lifeOf(image),
  revision,
});

/** For what is done for a machine: its own trace, linked with that of its image if it has one. */
export const traceOfMachine = (machine: VirtualMachine, image: VMDiskImage | undefined): TraceOfMachine => ({
  machine: lifeOf(machine),
  ...(image ? { image: traceOfImage(image) } : {}),
});

/** For what is done for a workspace: its own trace, linked with those of its images and machines. */
export const traceOfWorkspace = (
  workspace: Workspace,
  images: Iterable<VMDiskImage>,
  machines: readonly VirtualMachine[],
): TraceOfWorkspace => ({
  workspace: lifeOf(workspace),
  images: [...images].map((image) => traceOfImage(image)),
  machines: machines.map(({ metadata }) => ({ uid: metadata.uid })),
});

/** An object with a trace of its own, as far as the trace needs it. */
interface Traced {
  apiVersion: string;
  kind: string;
  metadata: { uid: string };
  status?: { phase?: string | undefined; revision?: number | undefined } | undefined;
}

/** The trace of an object by itself; undefined for a kind that has none. Of an image it is that of its present revision. */
export function traceOf(object: Traced): TraceOf | undefined {
  const life = lifeOf(object);
  // By name: a process that does not use a kind need not load it.
  switch (`${object.apiVersion} ${object.kind}`) {
    case 'pelotech.ot/v1alpha1 VMDiskImage':
      return { ...life, revision: object.status?.revision ?? 1 };
    case 'pelotech.ot/v1alpha1 VirtualMachine':
    case 'kupenstack.io/v1alpha1 VirtualMachine':
      return { machine: life };
    case 'pelotech.ot/v1alpha1 Workspace':
      return { workspace: life, images: [], machines: [] };
    case 'kupenstack.io/v1alpha1 VirtualNetwork':
      return { network: life };
    case 'kupenstack.io/v1alpha1 Volume':
      return { volume: life };
  }
  return undefined;
}

/** The trace that begins with an image or machine when it is created, or published. */
export function traceBegunBy(object: KubernetesObject): TraceOf | undefined {
  const { uid } = object.metadata;
  if (object.apiVersion !== 'pelotech.ot/v1alpha1') return undefined;
  if (object.kind === 'VirtualMachine') return { machine: { uid } };
  return object.kind === 'VMDiskImage' ? { uid, revision: revisionOf(object as VMDiskImage) } : undefined;
}

/** The revision that an image gets for its present spec. */
function revisionOf(image: VMDiskImage): number {
  const { phase, revision = 1, contentDigest: synced } = image.status ?? {};
  return phase && synced !== undefined && synced !== contentDigest(image) ? revision + 1 : revision;
}

const lifeOf = ({ metadata, status }: Pick<Traced, 'metadata' | 'status'>): Life => ({
  uid: metadata.uid,
  ...(status?.phase ? { phase: status.phase } : {}),
});
