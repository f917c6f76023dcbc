import { type Action, together } from '../../shared/actions.ts';
import { Job } from '../../shared/kinds/batch/job.ts';
import type { WorkspaceCondition } from '../../shared/kinds/pelotech/workspace.ts';
import type { NewCondition } from '../../shared/kubernetes/status.ts';
import { isValid } from '../../shared/policy.ts';
import { isHibernated } from '../../shared/workspaces/lifetime.ts';
import { siteKeyIn } from '../../shared/workspaces/site-key.ts';
import { makeFor } from './child.ts';
import { containerStage } from './containers/plan.ts';
import { deleteExcept, type Garbage, garbage } from './garbage.ts';
import { type Gate, gated, policyGates } from './gate.ts';
import { imageStage, type WantedImages, wantedImages } from './images/plan.ts';
import { machineStage } from './machines/plan.ts';
import { namespaceStage } from './namespace/plan.ts';
import { networkStage, type Provider } from './network/plan.ts';
import { nothingInside, type Observed, type Own } from './observed.ts';
import { hostKeysFor, hostKeysOf } from './roles/host-keys.ts';
import { loginKeys } from './roles/login.ts';
import { rolesStage } from './roles/plan.ts';
import { hasKeys } from './roles/roles.ts';
import { type Runs, runsOf } from './roles/status.ts';
import { lateness, type Schedule, scheduleGates, scheduleOf } from './schedule/schedule.ts';
import { isDone, type Stage, waiting } from './stage.ts';
import { volumeStage } from './volumes/plan.ts';

/** The stages of a workspace, and what this reconcile writes. */
export interface Plan {
  writes: Action[];
  stages: Stage[];
  wanted: WantedImages;
  /** It hibernates: what runs is stopped, and nothing that would run is made. */
  isHibernating: boolean;
  /** It is to start later. */
  schedule: Schedule | undefined;
  /** What its users learn of its start. */
  lateness: NewCondition<WorkspaceCondition>[];
}

/** Namespace and images, then networks and volumes, then what runs on them. A stage waits for those before it. */
export function planOf(observed: Observed, own: Own, provider: Provider): Plan {
  const { workspace, policy, inside = nothingInside, outside, site, nowMs } = observed;
  const make = makeFor(observed);
  const wanted = wantedImages(observed, own.machines);
  const isHibernating = isHibernated(workspace, nowMs);
  const hibernation = isHibernating ? hibernationGate : undefined;
  const found = { ...observed, ...inside, ...outside, own, provider, wanted, isHibernating };
  const schedule = scheduleOf(observed, own, wanted);
  const ahead = scheduleGates(schedule, nowMs);
  const namespace = gated(namespaceStage(observed, make), ahead.rest);
  const images = gated(imageStage(found), hibernation, ahead.images);
  const started = ahead.rest ?? startGate(namespace, images, own);
  const unreadable = policyGates(workspace, policy);
  const obsolete = started || unreadable.machines || unreadable.containers ? none : garbage(found);
  const networks = gated(
    { ...networkStage(found, make), obstacle: obsolete.networksInUse },
    started,
    unreadable.networks,
  );
  const connected = connectionGate(networks);
  const keys = started || !needsHostKeys(observed) ? [] : hostKeysOf(workspace, site);
  const hostKeys = keys.length > 0 ? make(hostKeysFor(keys), site?.hostKeys) : undefined;
  const machines = gated(
    machineStage({ ...found, hostKeys }, make),
    hibernation,
    started,
    connected,
    unreadable.machines,
  );
  const runs = runsOf(own.jobs, inside.pods);
  const stages = [
    images,
    networks,
    gated(volumeStage(workspace.spec, inside.claims, policy, make), started),
    machines,
    gated(containerStage(found, make), hibernation, started, connected, unreadable.containers),
    started ? undefined : rolesStage({ ...found, keys, runs }, make, isDone(machines) && !isHibernating),
  ].filter((stage) => stage !== undefined);
  const writes = [
    ...namespace.writes,
    // A machine that names a Secret that does not exist is looked at again by an audit only.
    ...(hostKeys?.writes ?? []),
    // A child that is refused blocks no other; a namespace that is refused blocks all of them.
    ...together(stages.flatMap(sequencesOf)),
    ...obsolete.writes,
    // Its machines stop: it begins again when they run.
    ...(isHibernating ? deleteExcept(Job, own.jobs, ended(runs)) : []),
  ];
  // What is not seen may exist: an image that is missing may no longer be needed.
  return {
    writes: observed.isForbidden ? namespace.writes : writes,
    stages: [namespace, ...stages],
    wanted,
    isHibernating,
    schedule,
    lateness: lateness(workspace, schedule, { images, hasBegun: hasBegun(own), nowMs }),
  };
}

const needsHostKeys = ({ workspace, policy, site }: Observed) =>
  siteKeyIn(site?.key) !== undefined &&
  isValid(policy, ...loginKeys) &&
  (workspace.spec.vms ?? []).some((vm) => hasKeys(vm, workspace, policy));

const sequencesOf = ({ writes, sequenceOf }: Stage) => [
  ...Map.groupBy(writes, (write) => sequenceOf?.(write) ?? write).values(),
];

const none: Garbage = { writes: [], networksInUse: undefined };

/** Nothing is started before every image exists. What was started before does not wait for an image that is added later. */
function startGate(namespace: Stage, images: Stage, own: Own): Gate | undefined {
  if (!isDone(namespace)) {
    return { allow: 'nothing', because: waiting('NamespaceNotReady', 'Waiting for the namespace.') };
  }
  return isDone(images) || hasBegun(own)
    ? undefined
    : { allow: 'nothing', because: waiting('ImagesNotReady', 'Waiting until every image is ready.') };
}

const hibernationGate: Gate = {
  allow: 'existing',
  because: waiting('Hibernated', 'Not made while the workspace hibernates.'),
};

/** The Jobs that have ended: they are kept. */
const ended = (runs: Runs) =>
  new Set([...runs].flatMap(([name, { phase }]) => (phase === 'Provisioning' ? [] : [name])));

const connectionGate = ({ components }: Stage): Gate | undefined =>
  components.every(({ phase }) => phase === 'Ready')
    ? undefined
    : { allow: 'existing', because: waiting('NetworksNotReady', 'Waiting until its networks are ready.') };

/** Something of the workspace besides its images was made before. */
const hasBegun = ({ definitions, claims, machines, deployments, subnets }: Own) =>
  [definitions, claims, machines, deployments, subnets].some((objects) => objects.length > 0);
