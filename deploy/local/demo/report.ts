import { lineOf, styled } from '../../terminal/paint.ts';
import { type Block, blank, line, saidSeconds, text } from './blocks.ts';
import { faultsIn } from './faults.ts';
import { type ImagesResult, imagesFaults, imagesReport, imagesTotal } from './images-report.ts';
import { type MachinesResult, machinesFaults, machinesReport, machinesTotal } from './machines-report.ts';
import { type WorkspaceResult, workspaceFaults, workspaceReport, workspaceTotal } from './workspace-report.ts';

/** What came of the demo; `--json` prints it as it is. */
export interface DemoResult extends ImagesResult {
  ok: boolean;
  /** What is not as it was expected, one sentence each. */
  faults: string[];
  seconds: number;
  /** It was given up because it took too long. */
  isLate: boolean;
  /** Null where there was no time left for it, as the third act. */
  machines: MachinesResult | null;
  workspace: WorkspaceResult | null;
}

/** What the demo ends with: what became of each object, the totals, what was not as expected, what to try next. */
export function report(result: DemoResult): Block[] {
  const { ok, faults, seconds, machines, workspace } = result;
  const totals = [imagesTotal(result), ...(machines ? [machinesTotal(machines)] : [])];
  if (workspace) totals.push(workspaceTotal(workspace));
  return [
    blank,
    ...imagesReport(result),
    ...(machines ? [blank, ...machinesReport(machines)] : []),
    ...(workspace ? [blank, ...workspaceReport(workspace)] : []),
    blank,
    text(`${ok ? 'All as expected' : 'Not as expected'}: ${totals.join('; ')}.`),
    line(`Took ${saidSeconds(seconds)}.`),
    // A fault is to be read whole.
    ...faults.map(
      (fault): Block =>
        ({ colour }) => [lineOf([styled('red', '- '), fault], { columns: Number.POSITIVE_INFINITY, colour })],
    ),
    ...(ok ? [line('Try next: ', styled('bold', 'npm start'), ' (the same cluster, for kubectl)')] : []),
  ];
}

/** What differs from what the demo claims, one sentence each. */
export const faultsOf = (result: Omit<DemoResult, 'ok' | 'faults'>): string[] =>
  faultsIn(
    result.isLate && `timeout: expected all to be done within ${result.seconds.toFixed(0)}s`,
    imagesFaults(result),
    result.machines ? machinesFaults(result.machines) : 'machines: expected the second act, found no time left for it',
    result.workspace
      ? workspaceFaults(result.workspace)
      : 'workspace: expected the third act, found no time left for it',
  );
