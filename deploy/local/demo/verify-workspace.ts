import type { PartResult, WorkspaceResult } from './result.ts';
import { slackBytesPerAttempt } from './slack.ts';

/** What of the third act is not as the demo claims it to be, one sentence each. */
export function workspaceFaults(result: WorkspaceResult): string[] {
  return [
    ...result.parts.flatMap(partFaults),
    ...(result.readyAfterSeconds === null ? [`${result.name}: expected Ready, was never seen so`] : []),
    ...result.tooEarly,
    ...imageFaults(result),
    ...healingFaults(result),
    ...deletionFaults(result),
  ];
}

/** The policy may leave one out; then it says so. */
const partFaults = ({ kind, name, readyAfterSeconds, phase, message }: PartResult) =>
  readyAfterSeconds === null && phase !== 'Skipped'
    ? [`${kind} ${name}: expected Ready, found ${phase || 'none'}${message ? ` (${message})` : ''}`]
    : [];

function imageFaults({ image, otherBytesDownloaded }: WorkspaceResult): string[] {
  const { name, bytesDownloaded, bytesNeeded } = image;
  const most = bytesNeeded + slackBytesPerAttempt;
  return [
    (bytesDownloaded < bytesNeeded || bytesDownloaded > most) &&
      `${name}: expected one download (${bytesNeeded} to ${most} bytes), found ${bytesDownloaded} bytes`,
    otherBytesDownloaded > 0 && `workspace: expected no other download, found ${otherBytesDownloaded} bytes`,
  ].filter((fault) => typeof fault === 'string');
}

const healingFaults = ({ healing: { kind, name, deletedAtSeconds, backAfterSeconds } }: WorkspaceResult) =>
  deletedAtSeconds !== null && backAfterSeconds === null
    ? [`${kind} ${name}: expected to come back when it was deleted, did not`]
    : [];

function deletionFaults({ name, deletion, leftOver }: WorkspaceResult): string[] {
  if (deletion.askedAtSeconds === null) return [`${name}: expected to be deleted in the end, did not get there`];
  if (deletion.goneAfterSeconds === null && leftOver.length === 0)
    return [`${name}: expected to be gone, did not go in time`];
  return leftOver.length > 0 ? [`left over: expected nothing of ${name}, found ${leftOver.join(', ')}`] : [];
}
