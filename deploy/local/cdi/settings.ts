/** The times of the simulated controllers, in milliseconds of the clock. The defaults are some hundred times faster than life. */
export interface CdiTimings {
  /** Between two writes of a controller about the same object. */
  tickMs: number;
  /** Until a driver has made a volume. */
  bindMs: number;
  /** From a scheduled pod to its running container; also how long the end of a container stands before it starts again. */
  containerMs: number;
  /** The time from the end of a Pod's last container to the phase that shows it. */
  podPhaseMs: number;
  /** From a finished import to the handing over of its volume. */
  rebindMs: number;
  /** Between two looks at a running import. */
  progressMs: number;
  /**
   * From the end of an importer that asked for scratch space to the Pod that has it, under the same name. A garbage collector that saw the
   * first one terminating deletes it by that name, and must not meet the second (Kubernetes, pkg/controller/podgc).
   */
  nextPodMs: number;
  /** How long a deleted importer keeps running. */
  podGraceMs: number;
  /** How long the conversion of a qcow2 image takes. */
  conversionMs: number;
  /** How long an import takes that downloads nothing here (registry, blank). */
  otherSourceMs: number;
  /** Until the kubelet looks again for a Secret it misses. */
  secretPollMs: number;
  /** How long a copy from volume to volume takes, where the driver cannot clone. */
  hostCopyMs: number;
  /** Scales the kubelet's back-off between restarts (10 s to 300 s, forgotten after 10 min of running). */
  restartScale: number;
}

export const defaultTimings: CdiTimings = {
  tickMs: 5,
  bindMs: 30,
  containerMs: 30,
  podPhaseMs: 30,
  rebindMs: 30,
  progressMs: 2000,
  nextPodMs: 0,
  podGraceMs: 100,
  conversionMs: 200,
  otherSourceMs: 100,
  secretPollMs: 1000,
  hostCopyMs: 200,
  restartScale: 1,
};

/** Legal differences between installations of CDI. */
export interface CdiVariants {
  /** The first status that shows is the one with the claim in it; the one before it is never written. */
  skipPending?: boolean;
  /** No populators: the claim is bound first and the importer writes to it directly. */
  classic?: boolean;
  /**
   * The cluster has Kubernetes' volume controller, which binds claims itself. Two controllers that bind interfere: Kubernetes' own
   * marks a claim Lost if it has not seen its volume yet.
   */
  clusterBinds?: boolean;
  /**
   * Volumes of `Filesystem` claims of workspaces are folders below this one, which a real kubelet can mount without the simulated
   * driver. It must be on the node.
   */
  foldersBelow?: string;
}
