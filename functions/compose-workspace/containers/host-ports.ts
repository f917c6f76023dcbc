import type { ContainerCluster, WorkspaceContainer } from '../../../shared/kinds/pelotech/workspace.ts';
import type { Policy } from '../../../shared/policy.ts';
import type { ComponentStatus } from '../stage.ts';

type PortMapping = NonNullable<WorkspaceContainer['portMappings']>[number];

/** As the policy's hostPorts has it: 53/udp. */
const formatHostPort = ({ hostPort, protocol = 'tcp' }: PortMapping) => `${hostPort}/${protocol.toLowerCase()}`;

/** The port of the node, if the policy lets workspaces claim it: it takes the node's own traffic. */
export const hostPortOf = (mapping: PortMapping, { values }: Policy) =>
  mapping.hostPort !== undefined && values.hostPorts.includes(formatHostPort(mapping)) ? mapping.hostPort : undefined;

/** What a container cluster that runs also reports: the host ports that it lacks. */
export function withoutHostPorts(
  status: ComponentStatus,
  { containers }: ContainerCluster,
  policy: Policy,
): ComponentStatus {
  const lacking = containers
    .flatMap(({ portMappings = [] }) => portMappings)
    .filter((mapping) => mapping.hostPort !== undefined && hostPortOf(mapping, policy) === undefined)
    .map(formatHostPort);
  if (status.phase !== 'Ready' || status.reason === 'Halted' || lacking.length === 0) return status;
  return {
    ...status,
    reason: 'HostPortNotAllowed',
    message: `${status.message.replace(/\.$/, '')}, without host port${lacking.length > 1 ? 's' : ''} ${lacking.join(', ')}; to claim them, an admin adds a line for each to the policy's hostPorts.`,
  };
}
