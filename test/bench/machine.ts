import { cpus, loadavg } from 'node:os';

/** What the figures were measured on; they mean little without it. */
export interface Machine {
  processors: string;
  node: string;
  /** Load averages over a minute, before and after. */
  load: readonly [number, number];
}

/** One minute's load average: how many processes wanted a processor. */
export const loadNow = () => loadavg()[0] ?? Number.NaN;

export const machineOf = (loadBefore: number): Machine => ({
  processors: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}`,
  node: process.version,
  load: [loadBefore, loadNow()],
});
