import { Deployment } from '../../../shared/kinds/apps/deployment.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { type Component, Workspace, workspaceUidLabel } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { applyManifests } from '../../manifests.ts';
import { type Act, countDownloads, type Stage, secondsBetween } from './act.ts';
import { labImage } from './images.ts';
import { madeForWorkspaces } from './made-kinds.ts';
import { type DemoWorld, where } from './set-up.ts';
import { shownOf, stateOf, watchOf } from './watcher.ts';
import { type DemoWorkspace, type Part, workspaceFile } from './workspace.ts';

type Moment = 'applied' | 'ready' | 'broken' | 'mended' | 'deleted' | 'gone';

/** The third act: a whole lab gets Ready, mends itself, and is taken away without a trace. */
export function playWorkspace(world: DemoWorld, lab: DemoWorkspace, stage: Stage) {
  const { seen, startedMs } = stage;
  const { kube } = world.cluster;
  const fragile = { namespace: lab.namespace, name: lab.fragile.name };
  const downloads = countDownloads(world, labImage(), stage.signal);
  const moments = new Map<Moment, number>();
  const note = (moment: Moment) => moments.set(moment, Date.now());
  const between = (from: Moment, to: Moment) => secondsBetween(moments.get(from), moments.get(to));
  const secondsUntil = (moment: Moment) => secondsBetween(startedMs, moments.get(moment));
  /** When each part was Ready for the first time. */
  const readyMs = new Map<string, number>();
  /** Its parts as they were before it was deleted. */
  let parts: readonly Component[] = [];
  const machines: VirtualMachine[] = [];
  const workspace = () => seen.one(Workspace, { name: lab.name });
  const image = () => seen.one(VMDiskImage, { namespace: where.namespace, name: lab.image })?.object;
  const isReady = () => {
    const { metadata, status } = workspace()?.object ?? {};
    return status?.phase === 'Ready' && !metadata?.deletionTimestamp;
  };
  const leftOver = () =>
    seen.names([Workspace, ...madeForWorkspaces, VirtualMachine, VMDiskImage] as Resource[], (object) =>
      isOf(object, lab, workspace()?.object.metadata.uid, image()?.metadata.uid),
    );
  const partResult = ({ kind, name }: Part) => {
    const { phase = '', message = '' } = parts.find((one) => isSame(one, { kind, name })) ?? {};
    const readyAfterSeconds = secondsBetween(moments.get('applied'), readyMs.get(`${kind} ${name}`));
    return { kind, name, readyAfterSeconds, phase: phase as string, message };
  };

  return {
    watches: [
      ...madeForWorkspaces.map((kind) => watchOf({ kind })),
      watchOf({ kind: VMDiskImage }),
      watchOf({
        kind: VirtualMachine,
        saw: (machine, before) => {
          if (!before && machine.metadata.namespace === lab.namespace) machines.push(machine);
        },
      }),
      watchOf({
        kind: Workspace,
        state: stateOf,
        shown: shownOf,
        saw: ({ metadata, status }, before, isGone) => {
          if (isGone) return;
          const now = status?.components ?? [];
          for (const { kind, name, phase, message } of now) {
            if (before?.status?.components?.find((one) => isSame(one, { kind, name }))?.phase === phase) continue;
            if (phase === 'Ready' && !readyMs.has(`${kind} ${name}`)) readyMs.set(`${kind} ${name}`, Date.now());
            stage.report({ kind, name, phase, remark: `${kind}: ${message}` });
          }
          if (!metadata.deletionTimestamp) parts = now;
        },
      }),
    ],
    async play() {
      note('applied');
      stage.command(`kubectl apply -f ${workspaceFile}`);
      await applyManifests(kube, [lab.manifest]);
      await seen.until(isReady);
      note('ready');

      const before = seen.one(Deployment, fragile)?.object.metadata.uid;
      note('broken');
      stage.command(`kubectl delete deployment ${fragile.name} -n ${fragile.namespace}`);
      await kube.delete(Deployment, fragile);
      const isAnother = () => {
        const { object, goneAtMs } = seen.one(Deployment, fragile) ?? {};
        return (
          goneAtMs === undefined && object?.metadata.uid !== before && (object?.status?.availableReplicas ?? 0) > 0
        );
      };
      await seen.until(() => isAnother() && isReady());
      note('mended');

      note('deleted');
      stage.command(`kubectl delete otws ${lab.name}`);
      await kube.delete(Workspace, { name: lab.name });
      await seen.until(() => workspace()?.goneAtMs !== undefined && leftOver().length === 0);
      note('gone');
    },
    view: () => {
      const { object, goneAtMs } = workspace() ?? {};
      const { ready = '', components: parts = [] } = (goneAtMs === undefined && object?.status) || {};
      return {
        name: lab.name,
        /** "5/7", as the workspace itself counts. */
        ready,
        parts,
        ...(seen.shown(Workspace, { name: lab.name }) ?? { phase: '', remark: '' }),
      };
    },
    result: () => ({
      name: lab.name,
      /** From its application; null where it never was. */
      readyAfterSeconds: between('applied', 'ready'),
      /** Those that have to exist, and all others that the workspace reports. */
      parts: [...lab.parts, ...parts.filter((found) => !lab.parts.some((part) => isSame(part, found)))].map(partResult),
      /** The part that was deleted under it. */
      healing: {
        ...lab.fragile,
        deletedAtSeconds: secondsUntil('broken'),
        /** Until another was in its place and the workspace was Ready again; null where that never came. */
        backAfterSeconds: between('broken', 'mended'),
      },
      deletion: {
        askedAtSeconds: secondsUntil('deleted'),
        /** Until neither the workspace nor anything that was made for it was there; null where something stayed. */
        goneAfterSeconds: between('deleted', 'gone'),
      },
      /** The image that was made for it. */
      ...downloads(),
      /** What was made before its time. */
      tooEarly: machines.flatMap((machine) => whyTooEarly(machine, image()) ?? []),
      leftOver: leftOver(),
    }),
  } satisfies Act<unknown, unknown>;
}

const isSame = (one: Part, other: Part) => one.kind === other.kind && one.name === other.name;

/** Whether it is the workspace, its image, or made for one of them. */
function isOf({ kind, metadata }: KubernetesObject, lab: DemoWorkspace, uid = '', imageUid = '') {
  const { name, namespace, labels = {} } = metadata;
  if (namespace === lab.namespace || name === lab.namespace) return true;
  if (kind === Workspace.kind) return name === lab.name;
  if (kind === VMDiskImage.kind) return name === lab.image;
  return labels[workspaceUidLabel] === uid || labels[imageUidLabel] === imageUid;
}

/** The machine was made before its image was there, by what both objects say; undefined where it was not. */
function whyTooEarly({ metadata }: VirtualMachine, image: VMDiskImage | undefined): string | undefined {
  const completedAt = image?.status?.completedAt;
  const madeAt = metadata.creationTimestamp;
  // A creationTimestamp has whole seconds.
  if (completedAt && Date.parse(madeAt) >= Math.floor(Date.parse(completedAt) / 1000) * 1000) return undefined;
  return `${metadata.name} was made at ${madeAt}, before its image was there (${completedAt ?? 'not yet'})`;
}
