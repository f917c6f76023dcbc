import type { Action } from '../../shared/actions.ts';
import { ownerAmong } from '../../shared/workspaces/workspace.ts';
import { containerStage } from './containers/plan.ts';
import { garbage } from './garbage.ts';
import { imageStage } from './images/plan.ts';
import { machineStage } from './machines/plan.ts';
import { namespaceStage } from './namespace/plan.ts';
import { networkStage } from './network/plan.ts';
import type { Observed } from './observed.ts';
import { unreadable } from './policy-gates.ts';
import { rolesStage } from './roles/plan.ts';
import { isDone, type Stage, type Standing, waiting } from './stage.ts';
import { volumeStage } from './volumes/plan.ts';

/** All stages of a workspace in their order, with what this pass writes for each. */
export interface Plan {
  writes: Action[];
  stages: Stage[];
}

/**
 * Namespace and images first, side by side; the rest only once every image is there. Later an image that comes late holds up
 * its own machines alone: what was begun is kept as it should be.
 */
export function planOf(observed: Observed): Plan {
  const home = namespaceStage(observed);
  const images = imageStage(observed);
  const hasNamespace = isDone(home) && observed.inside !== undefined;
  const mayGoOn = hasNamespace && (isDone(images) || hasBegun(observed));
  const because = hasNamespace
    ? waiting('ImagesNotReady', 'Waiting until every image is there.')
    : waiting('NamespaceNotReady', 'Waiting for the namespace.');
  const held = (stage: Stage) => (mayGoOn ? stage : waitingStage(stage, because));
  const unread = unreadable(observed);
  const frozen = (why: Standing | undefined, stage: Stage) => (why ? waitingStage(stage, why) : stage);
  const isClear = mayGoOn && unread.machines === undefined && unread.containers === undefined;
  const gone = isClear ? garbage(observed) : { writes: [], networksInUse: undefined };
  const networks = frozen(unread.networks, held({ ...networkStage(observed), obstacle: gone.networksInUse }));
  const volumes = held(volumeStage(observed));
  const areNetworksThere = networks.components.every(({ phase }) => phase === 'Ready');
  const notYet = waiting('NetworksNotReady', 'Waiting until its networks are there.');
  const afterNetworks = (stage: Stage) => (areNetworksThere ? held(stage) : waitingForNew(held(stage), notYet));
  const machines = frozen(unread.machines, afterNetworks(machineStage(observed)));
  const containers = frozen(unread.containers, afterNetworks(containerStage(observed)));
  const ansible = mayGoOn ? rolesStage(observed, isDone(machines)) : undefined;
  const stages = [home, images, networks, volumes, machines, containers, ...(ansible ? [ansible] : [])];
  return { writes: [...stages.flatMap(({ writes }) => writes), ...gone.writes], stages };
}

/** Something of the workspace but its images was made before. */
const hasBegun = ({ workspace, inside, outside }: Observed) =>
  [
    ...(inside?.definitions ?? []),
    ...(inside?.claims ?? []),
    ...(inside?.machines ?? []),
    ...(inside?.deployments ?? []),
    ...outside.subnets,
  ].some((object) => ownerAmong(workspace, object) === 'ours');

/** Nothing of the stage is written, and what would be made waits. */
const waitingStage = (stage: Stage, because: Standing): Stage => ({
  ...stage,
  writes: [],
  components: stage.components.map((one) => (one.reason === 'Creating' ? { ...one, ...because } : one)),
});

/** What is there is kept as it should be, and nothing new is made. */
const waitingForNew = (stage: Stage, because: Standing): Stage => ({
  ...waitingStage(stage, because),
  writes: stage.writes.filter(({ do: what }) => what !== 'create'),
});
