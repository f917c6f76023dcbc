import { isOver, type Pod } from './kinds.ts';

const portsOf = ({ spec }: Pod) =>
  spec.containers
    .flatMap(({ ports = [] }) => ports)
    .flatMap(({ hostPort, hostIP, protocol = 'TCP' }) =>
      hostPort ? [{ hostPort, protocol, address: hostIP || '0.0.0.0' }] : [],
    );

/** Whether a port of the node that this Pod asks for is another's already. */
export function hasTakenPort(pod: Pod, others: Iterable<Pod>): boolean {
  const wanted = portsOf(pod);
  if (wanted.length === 0) return false;
  const taken = [...others]
    .filter((other) => other.metadata.uid !== pod.metadata.uid && other.spec.nodeName && !isOver(other))
    .flatMap(portsOf);
  return wanted.some((port) =>
    taken.some(
      (other) =>
        other.hostPort === port.hostPort &&
        other.protocol === port.protocol &&
        (other.address === port.address || [other.address, port.address].includes('0.0.0.0')),
    ),
  );
}
