import { styled } from '../../terminal/paint.ts';
import { formatSeconds } from '../../terminal/quantities.ts';
import { type Block, blank, line } from './blocks.ts';
import { faultsIn } from './faults.ts';
import type { playOpenStack } from './openstack-act.ts';

type Played = ReturnType<ReturnType<typeof playOpenStack>['result']>;

/** What came of the demo with OpenStack; `--json` prints it as it is. */
export interface OpenStackResult extends Played {
  ok: boolean;
  /** What was expected and found otherwise, a line each. */
  faults: string[];
  seconds: number;
}

/** What the demo with OpenStack came to, in a few lines. */
export function openStackReport({ ok, faults, seconds, machine, ...calls }: OpenStackResult): Block[] {
  const { phase, node, networks } = machine;
  return [
    blank,
    line(`cirros was ${phase} on ${node} with ${networks} after its server had been deleted`),
    line(`${calls.serversMade} servers made, ${calls.callsToOpenStack} calls to OpenStack, nothing left of it`),
    ...faults.map((fault) => line(styled('red', `not as expected: ${fault}`))),
    line(
      styled(ok ? 'green' : 'red', ok ? 'All as expected' : 'Not as expected'),
      ` after ${formatSeconds(seconds * 1000)}`,
    ),
  ];
}

export const openStackFaults = ({ machine, serversMade }: Played): string[] =>
  faultsIn(
    machine.phase !== 'Running' && `machine: expected it to be Running again, found ${machine.phase || 'nothing'}`,
    !/^net-db\(10\.10\.120\.\d+\)$/.test(machine.networks) &&
      `machine: expected an address on net-db, found ${machine.networks || 'none'}`,
    serversMade !== 2 && `servers: expected two to be made, one for the one deleted, found ${serversMade}`,
  );
