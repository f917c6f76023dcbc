import { type Look, lineOf, styled } from '../../terminal/paint.ts';
import { formatSeconds } from '../../terminal/quantities.ts';
import type { OpenStackDemoResult } from './run-openstack.ts';

/** What the demo with OpenStack came to, in a few lines. */
export function reportOpenStack(
  { ok, faults, seconds, machine, serversMade, callsToOpenStack }: OpenStackDemoResult,
  look: Look,
): string[] {
  return [
    '',
    lineOf(
      [`sample-vm was ${machine.phase} on ${machine.node} with ${machine.networks} after its server had been deleted`],
      look,
    ),
    lineOf([`${serversMade} servers made, ${callsToOpenStack} calls to OpenStack, nothing left of it`], look),
    ...faults.map((fault) => lineOf([styled('red', `not as expected: ${fault}`)], look)),
    lineOf(
      [
        styled(ok ? 'green' : 'red', ok ? 'All as expected' : 'Not as expected'),
        ` after ${formatSeconds(seconds * 1000)}`,
      ],
      look,
    ),
  ];
}
