/** The times of the simulated KubeVirt, in milliseconds of the clock: a machine runs some 100 ms after its disk is ready. */
export interface KubevirtTimings {
  /** Between two writes of a controller about the same object. */
  tickMs: number;
  /** Until a launcher Pod has its node. */
  scheduleMs: number;
  /** From then until its container runs. */
  containerMs: number;
  /** From there until the guest runs. */
  bootMs: number;
  /** From a running guest until its agent speaks. */
  agentMs: number;
  /** What a second is in the periods and delays of probes. */
  probeSecondMs: number;
  /** How long a guest takes to shut down when it is asked to, if its own grace period is not shorter. */
  shutdownMs: number;
  /** How long a lost node is waited for before its machines are called Failed. */
  nodeLostMs: number;
  /** Between two looks for a Secret that is missing, and between two states of a failing image pull. */
  pollMs: number;
  /** Scales the back-off between starts that fail (10 s times the square of their number, at most 300 s). */
  backOffScale: number;
}

export const defaultTimings: KubevirtTimings = {
  tickMs: 5,
  scheduleMs: 20,
  containerMs: 30,
  bootMs: 30,
  agentMs: 50,
  probeSecondMs: 2,
  shutdownMs: 50,
  nodeLostMs: 100,
  pollMs: 50,
  backOffScale: 0.01,
};
