import { barOf } from '../../terminal/bar.ts';
import { styled } from '../../terminal/paint.ts';
import { phaseSpan } from '../../terminal/phase-style.ts';
import { type Block, blank, headline, line, saidSeconds, table, text } from './blocks.ts';
import { downloadFaults, faultsIn } from './faults.ts';
import type { playWorkspace } from './workspace-act.ts';

export type WorkspaceResult = ReturnType<ReturnType<typeof playWorkspace>['result']>;
export type PartResult = WorkspaceResult['parts'][number];

/** What the third act shows while it plays. */
export type WorkspaceView = ReturnType<ReturnType<typeof playWorkspace>['view']>;

/** How much of the workspace is ready, and a line for each of its parts. */
export function workspaceFrame({ name, phase, ready, remark, parts }: WorkspaceView, elapsedMs: number): Block[] {
  const [done = 0, all = 0] = ready.split('/').map(Number);
  const bar = all > 0 ? ['  ', styled('green', barOf(done / all, barWidth)), ` ${ready}`] : [];
  return [
    headline(elapsedMs, `${name}  `, phaseSpan(phase), ...bar),
    line(styled('dim', remark)),
    blank,
    table(parts, [
      ['PART', ({ kind }) => kind],
      ['NAME', (part) => part.name],
      ['PHASE', (part) => phaseSpan(part.phase)],
      ['', ({ message }) => styled('dim', message)],
    ]),
  ];
}

const barWidth = 20;

/** A line for each part, then what was done to the lab in a sentence each. */
export function workspaceReport({ name, readyAfterSeconds, parts, healing, deletion }: WorkspaceResult): Block[] {
  const sentences = [
    readyAfterSeconds !== null && `${name} was Ready ${saidSeconds(readyAfterSeconds)} after it was applied.`,
    healing.backAfterSeconds !== null &&
      `${healing.kind} ${healing.name} was deleted, and back ${saidSeconds(healing.backAfterSeconds)} later.`,
    deletion.goneAfterSeconds !== null &&
      `${name} was deleted, and gone with all that was made for it ${saidSeconds(deletion.goneAfterSeconds)} later.`,
  ].filter((sentence) => sentence !== false);
  return [
    table(parts, [
      ['PART OF THE LAB', ({ kind }) => kind],
      ['NAME', (part) => part.name],
      [
        'READY AFTER',
        ({ readyAfterSeconds: after, phase }) => (after === null ? phase || '-' : saidSeconds(after)),
        'right',
      ],
    ]),
    ...(sentences.length > 0 ? [blank, text(sentences.join(' '))] : []),
  ];
}

export function workspaceTotal({ parts }: WorkspaceResult): string {
  const ready = parts.filter(({ readyAfterSeconds }) => readyAfterSeconds !== null).length;
  const skipped = parts.filter(({ phase }) => phase === 'Skipped').length;
  return `a lab of ${ready} parts Ready${skipped > 0 ? `, ${skipped} Skipped` : ''}`;
}

/** What of the third act differs from what the demo claims, one sentence each. */
export function workspaceFaults({ name, parts, healing, deletion, leftOver, ...result }: WorkspaceResult): string[] {
  const fate =
    deletion.askedAtSeconds === null
      ? `${name}: expected to be deleted in the end, did not get there`
      : leftOver.length > 0
        ? `left over: expected nothing of ${name}, found ${leftOver.join(', ')}`
        : deletion.goneAfterSeconds === null && `${name}: expected to be gone, did not go in time`;
  return faultsIn(
    parts.flatMap(partFaults),
    result.readyAfterSeconds === null && `${name}: expected Ready, was never seen so`,
    result.tooEarly,
    downloadFaults('workspace', result.image, result.otherBytesDownloaded),
    healing.deletedAtSeconds !== null &&
      healing.backAfterSeconds === null &&
      `${healing.kind} ${healing.name}: expected to come back when it was deleted, did not`,
    fate,
  );
}

/** The policy may leave one out; then it is reported. */
const partFaults = ({ kind, name, readyAfterSeconds, phase, message }: PartResult) =>
  faultsIn(
    readyAfterSeconds === null &&
      phase !== 'Skipped' &&
      `${kind} ${name}: expected Ready, found ${phase || 'none'}${message ? ` (${message})` : ''}`,
  );
