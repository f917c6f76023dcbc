import { type Action, together } from '../../shared/actions.ts';
import { owns } from '../../shared/kubernetes/ownership.ts';
import { containerStage } from './containers/plan.ts';
import { garbage } from './garbage.ts';
import { type Gate, gated } from './gate.ts';
import { imageStage } from './images/plan.ts';
import { machineStage } from './machines/plan.ts';
import { namespaceStage } from './namespace/plan.ts';
import { networkStage } from './network/plan.ts';
import type { Observed } from './observed.ts';
import { policyGates } from './policy-gates.ts';
import { rolesStage } from './roles/plan.ts';
import { isDone, type Stage, waiting } from './stage.ts';
import { volumeStage } from './volumes/plan.ts';

/** All stages of a workspace in their order, with what this pass writes for each. */
export interface Plan {
  writes: Action[];
  stages: Stage[];
}

/** Namespace and images, then networks and volumes, then what runs on them. A stage waits for those before it. */
export function planOf(observed: Observed): Plan {
  const namespace = namespaceStage(observed);
  const images = imageStage(observed);
  const started = startGate(observed, namespace, images);
  const policy = policyGates(observed);
  const mayDelete = !started && !policy.machines && !policy.containers;
  const obsolete = mayDelete ? garbage(observed) : { writes: [], networksInUse: undefined };
  const networks = gated({ ...networkStage(observed), obstacle: obsolete.networksInUse }, started, policy.networks);
  const volumes = gated(volumeStage(observed), started);
  const connected = connectionGate(networks);
  const machines = gated(machineStage(observed), started, connected, policy.machines);
  const containers = gated(containerStage(observed), started, connected, policy.containers);
  const roles = started ? undefined : rolesStage(observed, isDone(machines));
  const others = [images, networks, volumes, machines, containers, ...(roles ? [roles] : [])];
  const children = others.flatMap(({ writes }) => writes).map((write) => [write]);
  // A child that is refused blocks no other; a namespace that is refused blocks all of them.
  const writes = [...namespace.writes, ...together(children), ...obsolete.writes];
  return { writes, stages: [namespace, ...others] };
}

/** Nothing is started before every image exists. What was started before does not wait for an image that is added later. */
function startGate(observed: Observed, namespace: Stage, images: Stage): Gate | undefined {
  if (!isDone(namespace) || observed.inside === undefined) {
    return { allow: 'nothing', because: waiting('NamespaceNotReady', 'Waiting for the namespace.') };
  }
  return isDone(images) || hasBegun(observed)
    ? undefined
    : { allow: 'nothing', because: waiting('ImagesNotReady', 'Waiting until every image is there.') };
}

const connectionGate = ({ components }: Stage): Gate | undefined =>
  components.every(({ phase }) => phase === 'Ready')
    ? undefined
    : { allow: 'existing', because: waiting('NetworksNotReady', 'Waiting until its networks are there.') };

/** Something of the workspace but its images was made before. */
const hasBegun = ({ workspace, inside, outside }: Observed) =>
  [
    ...(inside?.definitions ?? []),
    ...(inside?.claims ?? []),
    ...(inside?.machines ?? []),
    ...(inside?.deployments ?? []),
    ...outside.subnets,
  ].some((object) => owns(workspace, object));
