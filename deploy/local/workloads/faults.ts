import { type FaultTable, type FaultTarget, tableOf } from '../controller/fault-table.ts';

/**
 * What can go wrong with the Pods of Deployments and Jobs beyond what a missing Secret, network, claim or a taken port brings
 * by itself. A claim that never binds is a fault of its driver: CDI's `provisionError`.
 */
export type WorkloadFaultMode =
  /** The image cannot be pulled (each pull is an occasion): ErrImagePull and ImagePullBackOff alternate. */
  | { mode: 'imagePull'; message?: string }
  /**
   * The container ends so long after its start (each start is an occasion): CrashLoopBackOff where it is to run for ever, and a
   * failed try where it is a Job's. With exit code 0 and a message it is what a Job says at its good end.
   */
  | { mode: 'exits'; exitCode?: number; afterMs?: number; message?: string }
  /** The container of a Job never ends by itself: DeadlineExceeded. */
  | { mode: 'hangs' }
  /** The container runs and does not become ready, for this time or for ever. */
  | { mode: 'notReady'; forMs?: number }
  /** No node takes the Pod for this time. */
  | { mode: 'unschedulable'; forMs: number }
  /** A deleted Pod does not go for this time; for ever when left out. */
  | { mode: 'stuckTerminating'; forMs?: number };

/** A fault for containers whose Pod (`namespace/name`, which begins as its Deployment or Job), name or image matches. */
export type WorkloadFaultRule = WorkloadFaultMode & FaultTarget;

export interface ContainerName {
  pod: string;
  container: string;
  image: string;
}

export type WorkloadFaults = FaultTable<WorkloadFaultRule, ContainerName>;

export const workloadFaults = (rules: readonly WorkloadFaultRule[]): WorkloadFaults =>
  tableOf(rules, ({ pod, container, image }) => [pod, container, image]);
