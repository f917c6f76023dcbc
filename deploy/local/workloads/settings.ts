/** The times of the simulated controllers and kubelet, in milliseconds of the clock: a container runs some 50 ms after its Pod is created. */
export interface WorkloadTimings {
  /** Between two writes of a controller about the same object. */
  tickMs: number;
  /** Until a Pod has its node. */
  scheduleMs: number;
  /** From then until its containers run. */
  containerMs: number;
  /** How long the container of a Job runs. */
  jobMs: number;
  /** How long a deleted Pod's containers take to end, if its own grace period is not shorter. */
  shutdownMs: number;
  /** Between two looks for what is missing, and between two states of a failing image pull. */
  pollMs: number;
  /**
   * Scales what Kubernetes counts in seconds: back-off between restarts and between tries of a Job, minReadySeconds,
   * progressDeadlineSeconds, activeDeadlineSeconds, ttlSecondsAfterFinished.
   */
  secondsScale: number;
}

export const defaultTimings: WorkloadTimings = {
  tickMs: 5,
  scheduleMs: 10,
  containerMs: 30,
  jobMs: 50,
  shutdownMs: 30,
  pollMs: 50,
  secondsScale: 0.01,
};
