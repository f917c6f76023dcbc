import type { Clock } from '../clock.ts';
import type { ServiceName } from './service.ts';

/** What goes wrong, asked for by a test or a story. */
export interface Faults {
  /** Refuses the next calls of that operation (`createServer`, or `POST /servers`) with a status, doing nothing; 429 and 503 may say when to come again. */
  failNext(operation: string, status: number, times?: number, headers?: Readonly<Record<string, string>>): void;
  /** The service accepts calls and does nothing for this many milliseconds, then answers all of them: a stopped process. */
  hang(service: ServiceName, ms: number): void;
  /** The next calls of that operation are done, and the connection is cut before the answer. */
  loseAnswer(operation: string, times?: number): void;
  /**
   * The next such works end badly: a server or a volume in ERROR, error_extending or error_deleting, an image queued again
   * with os_glance_failed_import.
   */
  failWork(work: Work, times?: number): void;
  /** The service refuses connections for this many milliseconds: nothing listens. */
  cutOff(service: ServiceName, ms: number): void;
}

/** Work that continues after its call was answered, and may fail then. */
export type Work = 'boot' | 'createVolume' | 'download' | 'extendVolume' | 'deleteVolume' | 'importImage';

/** What a call meets. */
export interface FaultBook extends Faults {
  /** Milliseconds until the service continues; 0 if it does not hang. */
  waitMs(service: ServiceName): number;
  isCutOff(service: ServiceName): boolean;
  /** The refusal that this call is to get, counted. */
  takeFailure(
    operation: string,
    call: string,
  ): { status: number; headers: Readonly<Record<string, string>> } | undefined;
  /** Whether this work is to fail, counted. */
  takeWork(work: Work): boolean;
  /** Whether this call's answer is to be lost, counted. */
  takeLoss(operation: string, call: string): boolean;
}

/** No fault at first. */
export function faultBook(clock: Clock): FaultBook {
  const failures: { operation: string; status: number; left: number; headers: Readonly<Record<string, string>> }[] = [];
  const losses: { operation: string; left: number }[] = [];
  const works: { operation: string; left: number }[] = [];
  const hungUntil = new Map<ServiceName, number>();
  const cutUntil = new Map<ServiceName, number>();
  const take = <Entry extends { operation: string; left: number }>(
    entries: Entry[],
    operation: string,
    call: string,
  ) => {
    const met = entries.find((entry) => entry.left > 0 && (entry.operation === operation || entry.operation === call));
    if (met) met.left--;
    return met;
  };
  return {
    failNext: (operation, status, times = 1, headers = {}) =>
      failures.push({ operation, status, left: times, headers }),
    loseAnswer: (operation, times = 1) => losses.push({ operation, left: times }),
    failWork: (work, times = 1) => works.push({ operation: work, left: times }),
    takeWork: (work) => take(works, work, '') !== undefined,
    hang: (service, ms) => hungUntil.set(service, clock.now() + ms),
    cutOff: (service, ms) => cutUntil.set(service, clock.now() + ms),
    waitMs: (service) => Math.max(0, (hungUntil.get(service) ?? 0) - clock.now()),
    isCutOff: (service) => (cutUntil.get(service) ?? 0) > clock.now(),
    takeFailure: (operation, call) => take(failures, operation, call),
    takeLoss: (operation, call) => take(losses, operation, call) !== undefined,
  };
}
