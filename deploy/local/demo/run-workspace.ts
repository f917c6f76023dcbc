import { Deployment } from '../../../shared/kinds/apps/deployment.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { applyManifests } from '../../manifests.ts';
import { type Act, type ActOptions, countDownloads, secondsBetween } from './act.ts';
import { labImage } from './images.ts';
import type { PartResult, WorkspaceResult } from './result.ts';
import { type DemoWorld, where } from './set-up.ts';
import { type WorkspaceWatching, watchLab } from './watch-workspace.ts';
import { isSame, partReadyAtMs, type WatchedWorkspace } from './watched-workspace.ts';
import { type DemoWorkspace, readWorkspace, workspaceFile } from './workspace.ts';
import { renderWorkspace, type WorkspaceView } from './workspace-frame.ts';

/** When what the act is about came about; absent what has not yet. */
interface Moments {
  appliedMs?: number;
  readyMs?: number;
  brokenMs?: number;
  mendedMs?: number;
  deletedMs?: number;
  goneMs?: number;
}

/** The third act: a whole lab gets Ready, mends itself, and is taken away without a trace. */
export async function beginWorkspace(world: DemoWorld, options: ActOptions): Promise<Act<WorkspaceResult>> {
  const { kube } = world.cluster;
  const lab = await readWorkspace();
  const sent = countDownloads(world, labImage(), options.watchSignal);
  const moments: Moments = {};
  const watching = await watchLab({
    kube,
    lab,
    imageNamespace: where.namespace,
    signal: options.watchSignal,
    onPart: ({ kind, name, phase, message }) => options.onStep({ name, phase, remark: `${kind}: ${message}` }),
    onWorkspace: (workspace, isGone) => options.onStep({ name: lab.name, ...shown(workspace, isGone) }),
  });
  const isReady = () => watching.workspace?.phase === 'Ready' && !watching.workspace.isTerminating;

  async function play() {
    options.onReady((look) => renderWorkspace(viewOf(lab, watching, options.startedMs), look));
    options.onCommand(`kubectl apply -f ${workspaceFile}`);
    moments.appliedMs = Date.now();
    await applyManifests(kube, [lab.manifest]);
    await watching.until(isReady);
    moments.readyMs = Date.now();

    const fragile = { namespace: lab.namespace, name: lab.fragile.name };
    const before = watching.deployment(fragile.name)?.metadata.uid;
    options.onCommand(`kubectl delete deployment ${fragile.name} -n ${fragile.namespace}`);
    moments.brokenMs = Date.now();
    await kube.delete(Deployment, fragile);
    const isAnother = () => {
      const found = watching.deployment(fragile.name);
      return found !== undefined && found.metadata.uid !== before && (found.status?.availableReplicas ?? 0) > 0;
    };
    await watching.until(() => isAnother() && isReady());
    moments.mendedMs = Date.now();

    options.onCommand(`kubectl delete otws ${lab.name}`);
    moments.deletedMs = Date.now();
    await kube.delete(Workspace, { name: lab.name });
    await watching.until(() => watching.goneAtMs !== undefined && watching.leftOver().length === 0);
    moments.goneMs = Date.now();
  }

  return { over: play(), result: () => resultOf(lab, watching, moments, { sent, startedMs: options.startedMs }) };
}

function shown({ phase, message, isTerminating }: WatchedWorkspace, isGone: boolean) {
  if (isGone) return { phase: 'Gone', remark: '' } as const;
  if (isTerminating) return { phase: 'Terminating', remark: message } as const;
  return { phase, remark: phase === '' ? 'applied' : message };
}

function viewOf({ name }: DemoWorkspace, { workspace, goneAtMs }: WorkspaceWatching, startedMs: number): WorkspaceView {
  const isGone = goneAtMs !== undefined;
  return {
    elapsedMs: Date.now() - startedMs,
    name,
    ready: isGone ? '' : (workspace?.ready ?? ''),
    parts: isGone ? [] : (workspace?.parts ?? []),
    ...(workspace ? shown(workspace, isGone) : { phase: '', remark: '' }),
  };
}

function resultOf(
  lab: DemoWorkspace,
  watching: WorkspaceWatching,
  { appliedMs, readyMs, brokenMs, mendedMs, deletedMs, goneMs }: Moments,
  { sent, startedMs }: { sent: { image: number; others: number }; startedMs: number },
): WorkspaceResult {
  return {
    name: lab.name,
    readyAfterSeconds: secondsBetween(appliedMs, readyMs),
    parts: partResults(lab, watching.workspace, appliedMs),
    healing: {
      ...lab.fragile,
      deletedAtSeconds: secondsBetween(startedMs, brokenMs),
      backAfterSeconds: secondsBetween(brokenMs, mendedMs),
    },
    deletion: {
      askedAtSeconds: secondsBetween(startedMs, deletedMs),
      goneAfterSeconds: secondsBetween(deletedMs, goneMs),
    },
    image: { name: lab.image, bytesDownloaded: sent.image, bytesNeeded: labImage().content?.length ?? 0 },
    otherBytesDownloaded: sent.others,
    tooEarly: watching.tooEarly(),
    leftOver: watching.leftOver(),
  };
}

/** Those that have to be there, and whatever else the workspace says it is made of. */
function partResults(lab: DemoWorkspace, seen: WatchedWorkspace | undefined, appliedMs: number | undefined) {
  const others = (seen?.before ?? []).filter((found) => !lab.parts.some((part) => isSame(part, found)));
  return [...lab.parts, ...others].map(({ kind, name }): PartResult => {
    const part = { kind, name };
    const found = seen?.before.find((one) => isSame(one, part));
    const readyMs = seen && partReadyAtMs(seen, part);
    return {
      ...part,
      readyAfterSeconds: secondsBetween(appliedMs, readyMs),
      phase: found?.phase ?? '',
      message: found?.message ?? '',
    };
  });
}
