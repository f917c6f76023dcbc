/** Kubernetes' Time: whole seconds. */
export const toTime = (ms: number) => `${new Date(ms).toISOString().slice(0, -5)}Z`;

/** Kubernetes' MicroTime: `micros` are added below the millisecond. */
export const toMicroTime = (ms: number, micros = 0) =>
  new Date(ms).toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`);

/** A coming time for people, rounded up, so that it is over when it is reached: a duration in a message would never count down. */
export function formatTimeOfDay(atMs: number, nowMs: number): string {
  const [step, length] = atMs - nowMs < 60_000 ? [1000, 19] : [60_000, 16];
  const [date, time] = toTime(Math.ceil(atMs / step) * step)
    .slice(0, length)
    .split('T');
  return toTime(nowMs).startsWith(`${date}T`) ? `${time} UTC` : `${date} ${time} UTC`;
}
