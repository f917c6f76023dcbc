import { matches } from '../controller/fault-table.ts';

/**
 * What goes wrong with the objects whose path (`/bucket/key`) holds the string or fits the expression.
 * `times` counts downloads, after which the fault is over; without it, it stays.
 */
export type Fault = { match: RegExp | string; times?: number } & FaultMode;

/** `cutAt`: the connection breaks after that share of the bytes; `stall`: nothing more comes after it; `status`: refused with that status. */
type FaultMode =
  | { mode: 'cutAt'; fraction: number }
  | { mode: 'stall'; fraction: number }
  | { mode: 'status'; status: number };

/** Which fault a request meets. */
export interface FaultTable {
  /** The faults, the first that matches wins; change it at any time. */
  readonly rules: Fault[];
  /** The fault for a download of `path`, which is counted. */
  meet(path: string): Fault | undefined;
  /** The fault for `path` without counting it, for requests that are no downloads. */
  see(path: string): Fault | undefined;
}

export function faultTable(rules: readonly Fault[]): FaultTable {
  const met = new WeakMap<Fault, number>();
  const table: FaultTable = {
    rules: [...rules],
    see: (path) =>
      table.rules.find(
        (fault) => matches(fault, [path]) && (met.get(fault) ?? 0) < (fault.times ?? Number.POSITIVE_INFINITY),
      ),
    meet: (path) => {
      const fault = table.see(path);
      if (fault) met.set(fault, (met.get(fault) ?? 0) + 1);
      return fault;
    },
  };
  return table;
}
