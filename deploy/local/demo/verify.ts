import type { DemoResult, ImageResult } from './result.ts';
import { slackBytesPerAttempt } from './slack.ts';

/** What of the first act is not as the demo claims it to be, one sentence each; `applied` is the order in which the images were applied. */
export function faultsOf(
  result: Omit<DemoResult, 'ok' | 'faults' | 'machines' | 'workspace'>,
  applied: readonly string[],
): string[] {
  const { concurrency } = result.policy;
  return [
    ...(result.isLate ? [`timeout: expected all to be done within ${result.seconds.toFixed(0)}s`] : []),
    ...result.images.flatMap((image) => imageFaults(image, result.policy.retryLimit)),
    ...(['slots', 'importers'] as const)
      .filter((what) => result.most[what] > concurrency)
      .map((what) => `${what}: expected at most ${concurrency} at once, found ${result.most[what]}`),
    ...orderFaults(result.startOrder, applied),
    ...result.overtakings.map((what) => `order: ${what}`),
    ...(result.leftOver.length > 0 ? [`left over: expected nothing, found ${result.leftOver.join(', ')}`] : []),
  ];
}

function imageFaults(image: ImageResult, retryLimit: number): string[] {
  const { name, phase, expected, attempts, reason, message, bytesDownloaded, bytesNeeded, hasSnapshot } = image;
  const mostBytes = (tries: number) => tries * (bytesNeeded + slackBytesPerAttempt);
  const isReady = phase === 'Succeeded';
  if (phase !== expected.phase) {
    return [`${name}: expected ${expected.phase}, found ${phase || 'no phase'}${message ? ` (${message})` : ''}`];
  }
  return [
    attempts !== expected.attempts && `${name}: expected ${expected.attempts} attempts, found ${attempts}`,
    expected.reason && reason !== expected.reason && `${name}: expected reason ${expected.reason}, found ${reason}`,
    isReady !== hasSnapshot && `${name}: expected ${isReady ? 'a ready' : 'no'} snapshot, found the contrary`,
    isReady && bytesDownloaded < bytesNeeded && `${name}: Succeeded with ${bytesDownloaded} of ${bytesNeeded} bytes`,
    bytesDownloaded > mostBytes(Math.min(attempts, retryLimit + 1)) &&
      `${name}: expected at most ${mostBytes(attempts)} bytes downloaded in ${attempts} attempts, found ${bytesDownloaded}`,
  ].filter((fault) => typeof fault === 'string' && fault !== '') as string[];
}

function orderFaults(found: readonly string[], applied: readonly string[]): string[] {
  const index = applied.findIndex((name, place) => found[place] !== name);
  return index < 0
    ? []
    : [`order: expected ${applied[index]} to get the slot number ${index + 1}, found ${found[index] ?? 'nobody'}`];
}
