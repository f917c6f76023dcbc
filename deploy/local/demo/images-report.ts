import { barOf } from '../../terminal/bar.ts';
import { styled } from '../../terminal/paint.ts';
import { phaseSpan } from '../../terminal/phase-style.ts';
import { formatBytes } from '../../terminal/quantities.ts';
import { cell } from '../../terminal/table.ts';
import { type Block, blank, countsOf, headline, line, saidSeconds, table, text } from './blocks.ts';
import { faultsIn, slackBytesPerAttempt } from './faults.ts';
import type { playImages } from './images-act.ts';

export type ImagesResult = ReturnType<ReturnType<typeof playImages>['result']>;
export type ImageResult = ImagesResult['images'][number];

/** What the first act shows while it plays. */
export type ImagesView = ReturnType<ReturnType<typeof playImages>['view']>;

/** A bar for each slot, and a line for each image. */
export function imagesFrame({ slots, images }: ImagesView, elapsedMs: number): Block[] {
  const nameWidth = Math.max(5, ...images.map(({ name }) => name.length));
  return [
    headline(
      elapsedMs,
      countsOf(images, {
        queued: ['', 'Queued'],
        syncing: ['Syncing'],
        snapshotting: ['Snapshotting'],
        retrying: ['Retrying'],
        succeeded: ['Succeeded'],
        failed: ['Failed'],
      }),
    ),
    blank,
    ...slots.map((slot, index) => slotLine(slot, index, nameWidth)),
    blank,
    table(images, [
      ['IMAGE', ({ name }) => name],
      ['PHASE', ({ phase }) => phaseSpan(phase)],
      ['ATTEMPTS', ({ attempts }) => (attempts > 0 ? String(attempts) : ''), 'right'],
      ['WAITED', ({ waitedSeconds }) => saidSeconds(waitedSeconds), 'right'],
      ['', ({ remark }) => styled('dim', remark)],
    ]),
  ];
}

function slotLine(slot: ImagesView['slots'][number], index: number, nameWidth: number): Block {
  const title = styled('dim', `slot ${index + 1}  `);
  if (!slot) return line(title, styled('dim', 'free'));
  const { name, attempt, downloadedBytes, neededBytes } = slot;
  const share = neededBytes > 0 ? Math.min(1, downloadedBytes / neededBytes) : 0;
  const numbers =
    neededBytes > 0 ? ` ${String(Math.floor(share * 100)).padStart(3)}% of ${formatBytes(neededBytes)}` : '';
  const tail = `${numbers}${attempt > 1 ? `, attempt ${attempt}` : ''}`;
  return (look) => {
    const room = look.columns - 8 - nameWidth - 2 - ' 100% of 99.9 MB, attempt 9'.length;
    const bar = styled('cyan', barOf(share, Math.max(4, Math.min(40, room))));
    return line(title, cell(name, nameWidth), '  ', bar, tail)(look);
  };
}

/** A line for each image, and why one failed. */
export const imagesReport = ({ images }: ImagesResult): Block[] => [
  table(images, [
    ['IMAGE', ({ name }) => name],
    ['PHASE', ({ phase }) => phaseSpan(phase)],
    ['ATTEMPTS', ({ attempts }) => String(attempts), 'right'],
    ['WAITED', ({ waitedSeconds }) => saidSeconds(waitedSeconds), 'right'],
    ['DOWNLOADED', ({ bytesDownloaded }) => formatBytes(bytesDownloaded), 'right'],
    ['NEEDED', ({ bytesNeeded }) => (bytesNeeded > 0 ? formatBytes(bytesNeeded) : '-'), 'right'],
    ['RATIO', ({ ratio }) => (ratio === null ? '-' : ratio.toFixed(2)), 'right'],
  ]),
  ...images
    .filter(({ phase }) => phase === 'Failed')
    .flatMap(({ name, reason, message }) => [
      blank,
      text(`${name} failed as ${reason}, in its slot, as the demo turns inspection off: ${message}`),
    ]),
];

export function imagesTotal({ images, most, bytesDownloaded, bytesNeeded }: ImagesResult): string {
  const count = (phase: string) => images.filter((image) => image.phase === phase).length;
  const bytes = `${formatBytes(bytesDownloaded)} for ${formatBytes(bytesNeeded)}`;
  return `${count('Succeeded')} succeeded, ${count('Failed')} failed, ${most.slots} at once, ${bytes}`;
}

/** What of the first act differs from what the demo claims, one sentence each; images are in the order of their application. */
export function imagesFaults({ policy, most, startOrder, overtakings, leftOver, images }: ImagesResult): string[] {
  const { concurrency } = policy;
  const wrong = images.findIndex(({ name }, place) => startOrder[place] !== name);
  return faultsIn(
    images.flatMap((image) => imageFaults(image, policy.retryLimit)),
    (['slots', 'importers'] as const)
      .filter((what) => most[what] > concurrency)
      .map((what) => `${what}: expected at most ${concurrency} at once, found ${most[what]}`),
    wrong >= 0 &&
      `order: expected ${images[wrong]?.name} to get the slot number ${wrong + 1}, found ${startOrder[wrong] ?? 'nobody'}`,
    overtakings.map((what) => `order: ${what}`),
    leftOver.length > 0 && `left over: expected nothing, found ${leftOver.join(', ')}`,
  );
}

function imageFaults(image: ImageResult, retryLimit: number): string[] {
  const { name, phase, expected, attempts, reason, message, bytesDownloaded, bytesNeeded, hasSnapshot } = image;
  const mostBytes = (tries: number) => tries * (bytesNeeded + slackBytesPerAttempt);
  const isReady = phase === 'Succeeded';
  if (phase !== expected.phase) {
    return [`${name}: expected ${expected.phase}, found ${phase || 'no phase'}${message ? ` (${message})` : ''}`];
  }
  return faultsIn(
    attempts !== expected.attempts && `${name}: expected ${expected.attempts} attempts, found ${attempts}`,
    expected.reason && reason !== expected.reason && `${name}: expected reason ${expected.reason}, found ${reason}`,
    isReady !== hasSnapshot && `${name}: expected ${isReady ? 'a ready' : 'no'} snapshot, found the contrary`,
    isReady && bytesDownloaded < bytesNeeded && `${name}: Succeeded with ${bytesDownloaded} of ${bytesNeeded} bytes`,
    bytesDownloaded > mostBytes(Math.min(attempts, retryLimit + 1)) &&
      `${name}: expected at most ${mostBytes(attempts)} bytes downloaded in ${attempts} attempts, found ${bytesDownloaded}`,
  );
}
