import { type Clock, delay } from '../clock.ts';
import type { ImportRequest, ImportResult } from '../importer/import-image.ts';
import type { KeyPair } from '../object-store/sigv4.ts';
import type { ImportImage } from './context.ts';
import { scratchRequired } from './pod-mirror.ts';
import { killedHard, type Termination } from './pod-status.ts';

/** A fault of a running importer, injected when it has this share of its bytes. */
interface ImporterFault {
  mode: 'stall' | 'evicted' | 'drained' | 'oom' | 'killed';
  at: number;
}

interface Run {
  sourceType: string;
  url: string;
  checksum: string | undefined;
  credentials: KeyPair | undefined;
  scratch: boolean;
  capacityBytes: number;
  signal: AbortSignal;
  clock: Clock;
  importImage: ImportImage;
  conversionMs: number;
  otherSourceMs: number;
  fault: ImporterFault | undefined;
  oldScratch: boolean;
  onProgress(percentage: string): void;
  /** Someone is to delete the pod now. */
  drain(): void;
}

/** How a run of the importer container ended. */
export type End = { termination: Termination } | { evicted: true };

/** Runs the importer container once; rejects when its signal aborts. */
export async function runImporter(run: Run): Promise<End> {
  if (run.sourceType !== 's3' && run.sourceType !== 'http') {
    await delay(run.clock, run.otherSourceMs, run.signal);
    return { termination: completed(imported) };
  }
  const interruption = new AbortController();
  const ending = run.fault && run.fault.mode !== 'drained' ? run.fault : undefined;
  try {
    if (run.fault?.at === 0) meet(run, interruption);
    const result = interruption.signal.aborted ? undefined : await run.importImage(requestOf(run, interruption));
    if (result && (!ending || result.outcome !== 'done')) return { termination: terminationOf(result, run.oldScratch) };
  } catch (error) {
    if (run.signal.aborted || !interruption.signal.aborted) throw error;
  }
  return endByFault(run, ending);
}

function requestOf(run: Run, interruption: AbortController): ImportRequest {
  const { sourceType, url, credentials, checksum, capacityBytes, scratch, clock, conversionMs } = run;
  const progress = progressMeter(run.onProgress);
  return {
    sourceType: sourceType === 's3' ? 's3' : 'http',
    url,
    ...(credentials ? { credentials } : {}),
    ...(checksum ? { checksum } : {}),
    capacityBytes,
    scratch,
    clock,
    conversionMs,
    signal: AbortSignal.any([run.signal, interruption.signal]),
    onBytes: (received, total) => {
      // Reading before the request for scratch space is no progress.
      const isProbe = sourceType === 'http' && !scratch;
      if (total && !isProbe) progress((received / total) * 100);
      if (run.fault && received >= run.fault.at * (total ?? capacityBytes)) meet(run, interruption);
    },
    onConversion: progress,
  };
}

/** A percentage that never falls. */
function progressMeter(onProgress: (percentage: string) => void) {
  let highest = 0;
  return (percent: number) => {
    highest = Math.max(highest, percent);
    onProgress(`${highest.toFixed(2)}%`);
  };
}

function meet({ fault, drain }: Run, interruption: AbortController) {
  // A drained importer continues until its pod is deleted.
  if (fault?.mode === 'drained') drain();
  else interruption.abort();
}

async function endByFault({ signal }: Run, fault: ImporterFault | undefined): Promise<End> {
  if (fault?.mode === 'evicted') return { evicted: true };
  if (fault?.mode === 'killed') return { termination: killedHard };
  if (fault?.mode === 'oom') return { termination: { exitCode: 137, reason: 'OOMKilled', message: '' } };
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

const imported = { scratchSpaceRequired: false, preallocationApplied: false, message: 'Import Complete' };

const completed = (said: object): Termination => ({ exitCode: 0, reason: 'Completed', message: JSON.stringify(said) });

function terminationOf(result: ImportResult, oldScratch: boolean): Termination {
  switch (result.outcome) {
    case 'done':
      return completed(imported);
    case 'scratch-required':
      return oldScratch
        ? { exitCode: 42, reason: 'Error', message: scratchRequired }
        : completed({ ...imported, scratchSpaceRequired: true });
    case 'failed': {
      // The importer writes its message on one line.
      const message = result.message.replaceAll('\n', ' ');
      // A wrong checksum is the one failure that the importer reports with exit code 0, so it is not started again.
      return result.reason === 'ChecksumError' ? completed({ message }) : { exitCode: 1, reason: 'Error', message };
    }
  }
}

/** Whether a run only asked for scratch space, so that it was no try at all. */
export const isScratchRequest = (ended: End) =>
  'termination' in ended &&
  (ended.termination.exitCode === 42 || ended.termination.message?.includes('"scratchSpaceRequired":true') === true);
