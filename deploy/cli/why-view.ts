import { mayCreateImage } from '../../shared/images/new-image.ts';
import { contentsUnderWay, waitsForContent } from '../../shared/images/shared-content.ts';
import { keepsFromStarting } from '../../shared/images/stopped.ts';
import type { WaitReason } from '../../shared/images/waits.ts';
import type { KupenStackMachine } from '../../shared/kinds/kupenstack/virtual-machine.ts';
import { machineSteps, type VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { releasesBudget, type VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Component, Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { heldBy, messageOf, phaseOf } from '../../shared/kubernetes/shown.ts';
import type { Policy } from '../../shared/policy.ts';
import { oneLine } from '../../shared/sentence.ts';
import { heldNamespace } from '../../shared/workspaces/images.ts';
import { formatSpan } from './age.ts';
import {
  remedyForImageWithoutSecret,
  remedyForMachineWithoutImage,
  remedyForMadeImage,
  remedyForWorkspaceWithoutImage,
} from './missing-image.ts';
import { describeSlots, isUninspected, type QueueView } from './queue-view.ts';
import {
  editImage,
  type Remedy,
  remedyForFailed,
  remedyForImageReason,
  remedyForMachineReason,
  remedyForMissingSecret,
  remedyForReason,
  remedyForRetrying,
  remedyOnOpenStack,
  waiting,
} from './remedies.ts';
import { awaitedSecretOf, type ExistingSecrets } from './secrets.ts';
import { partsOf } from './server-parts.ts';
import { isWell, notReconciled } from './state.ts';
import { formatName, formatTyped, isOnOpenStack, type OnOpenStack, type Target } from './target.ts';

/** The chain of causes from the object that was asked about down to the first cause. */
export interface Why extends Remedy {
  steps: { about: string; phase: string; says: string }[];
  /** The object with the first cause; its Events have more information. */
  at: Target;
}

/** The objects that are needed to find the cause. */
export interface Known {
  machines: readonly VirtualMachine[];
  images: readonly VMDiskImage[];
  /** Networks and volumes on OpenStack. */
  parts: readonly OnOpenStack[];
  /** Secrets that images name. */
  secrets: ExistingSecrets;
  policy: Policy;
  queue: QueueView;
  nowMs: number;
}

/** The first cause of the state of an object, and how to correct it. */
export function whyOf(target: Target, known: Known): Why {
  const step = {
    about: formatName(target),
    phase: phaseOf(target) || 'New',
    says: oneLine(messageOf(target) ?? notReconciled),
  };
  const below = isWell(target) ? undefined : belowOf(target, known);
  const rest: Why = below ?? { steps: [], at: target, ...remedyOf(target, known) };
  return { ...rest, steps: [step, ...rest.steps] };
}

function belowOf(target: Target, known: Known): Why | undefined {
  if (target.metadata.deletionTimestamp) return undefined;
  if (target.kind === 'Workspace') return belowWorkspace(target as Workspace, known);
  if (target.kind === 'VMDiskImage') return belowImage(target as VMDiskImage, known);
  if (target.kind !== 'VirtualMachine') return undefined;
  return isOnOpenStack(target)
    ? belowServer(target as KupenStackMachine, known)
    : belowMachine(target as VirtualMachine, known);
}

/** The component that the workspace names first: its message begins with it. */
function belowWorkspace(workspace: Workspace, known: Known): Why | undefined {
  const { components = [], conditions, message = '' } = workspace.status ?? {};
  // What its components were found to be before does not matter while nothing is made of the spec.
  if (conditionOf(conditions, 'SpecValid')?.status === 'False') return undefined;
  const part =
    components.find(({ kind, name }) => message.startsWith(`${kind} ${name}: `)) ??
    components.find(({ phase }) => phase === 'Failed');
  if (!part) return undefined;
  const target = targetOf(part, workspace, known);
  if (target && !isWell(target)) {
    const below = whyOf(target, known);
    return { ...below, ...remedyForMadeImage(below, workspace, known) };
  }
  const step = { about: `${part.kind} ${part.name}`, phase: part.phase, says: oneLine(part.message) };
  return { steps: [step], at: workspace, ...remedyForComponent(part, workspace, known) };
}

function targetOf({ kind, name }: Component, workspace: Workspace, known: Known): Target | undefined {
  const namespace = kind === 'VMDiskImage' ? heldNamespace(workspace, name) : workspace.status?.namespace;
  const among: readonly Target[] =
    kind === 'VMDiskImage' ? known.images : kind === 'VirtualMachine' ? known.machines : [];
  return among.find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
}

function remedyForComponent({ kind, name, reason }: Component, workspace: Workspace, among: Known): Remedy {
  if (kind === 'VMDiskImage' && reason === 'ImageMissing')
    return remedyForWorkspaceWithoutImage(name, workspace, among);
  const home = workspace.status?.namespace ?? '';
  const known = remedyForReason('Workspace', reason, { KIND: 'otws', NAME: workspace.metadata.name, NAMESPACE: home });
  if (known) return known;
  const described: Readonly<Record<string, string>> = {
    ContainerCluster: `kubectl describe pods -n ${home}`,
    Volume: `kubectl describe pvc ${name} -n ${home}`,
    VirtualMachine: `kubectl describe otvm ${name} -n ${home}`,
    Network: `kubectl get events -n ${home}`,
    AnsibleRoles: `kubectl get jobs,pods -n ${home}`,
    Namespace: `kubectl describe namespace ${home}`,
  };
  return {
    help: 'Correct what its message names; the workspace then continues by itself.',
    commands: [described[kind], `kubectl edit otws ${workspace.metadata.name}`].filter((one) => one !== undefined),
  };
}

/** Its place in the queue does not matter while no download starts. */
function belowImage(image: VMDiskImage, known: Known): Why | undefined {
  const { stopped } = known.queue;
  if (image.status?.phase !== 'Queued') return undefined;
  const waitsFor = placeOf(image, known)?.waitsFor;
  // An image that ignores the budget waits for something else while that is spent.
  if (!stopped || !(waitsFor === 'SlotsUnknown' || keepsFromStarting(waitsFor))) return belowSharer(image, known);
  const step = { about: 'the queue', phase: 'stopped', says: `${stopped.why}.` };
  const { name, namespace } = image.metadata;
  // Of what stops the queue, only this may be left out for one image.
  const spent =
    waitsFor === 'BudgetSpent' && remedyForReason('VMDiskImage', waitsFor, { NAME: name, NAMESPACE: namespace });
  const resume = { help: 'Start downloads again.', commands: [stopped.command] };
  return { steps: [step], at: image, ...(spent || resume) };
}

const placeOf = ({ metadata }: VMDiskImage, { queue }: Known) =>
  queue.waiting.find(({ image }) => image === keyOf(metadata));

/** The image of the same content that it waits for. */
function belowSharer(image: VMDiskImage, known: Known): Why | undefined {
  const other = known.images.find((one) => waitsForContent(image, contentsUnderWay([one], [])));
  if (!other) return undefined;
  const says = `${formatName(other)} downloads the same (SameContent); the image is cloned from it after that.`;
  const rest = whyOf(other, known);
  return { ...rest, steps: [{ about: 'its content', phase: 'awaited', says }, ...rest.steps] };
}

const imageConditions = ['ImageResolved', 'ImageReady'];

/** Its image, if that is why it is not Ready. */
function belowMachine(machine: VirtualMachine, known: Known): Why | undefined {
  const ref = keyOf(machine.spec.vmDiskImageRef);
  const found = (type: string) => conditionOf(machine.status?.conditions, type);
  const reason = found('Ready')?.reason;
  const isForImage = imageConditions.some((type) => {
    const condition = found(type);
    return condition?.status === 'False' && (reason ?? condition.reason) === condition.reason;
  });
  const image = known.images.find(({ metadata }) => keyOf(metadata) === ref);
  if (!isForImage || !image || isWell(image)) return undefined;
  return whyOf(image, known);
}

/** In the order in which a server waits for them. */
const partConditions = [
  ['NetworksReady', 'VirtualNetwork'],
  ['VolumesReady', 'Volume'],
] as const;

function belowServer(machine: KupenStackMachine, known: Known): Why | undefined {
  const waits = partConditions.map(([type, kind]) => ({ ...conditionOf(machine.status?.conditions, type), kind }));
  const first = waits.find(({ status }) => status === 'False');
  // What is missing or another's has no object here that would say more.
  if (!first?.reason?.endsWith('NotReady')) return undefined;
  const part = partsOf(machine, known.parts).find((one) => one.kind === first.kind && !isWell(one));
  return part && whyOf(part, known);
}

function remedyOf(target: Target, known: Known): Remedy {
  if (isWell(target)) return { help: '', commands: [] };
  if (target.metadata.deletionTimestamp) {
    const { name, namespace } = target.metadata;
    const isHeld = heldBy(target) !== undefined;
    if (isHeld && isOnOpenStack(target)) return remedyOnOpenStack(target);
    const held = isHeld
      ? remedyForReason('VMDiskImage', 'DeletionHeld', { NAME: name, NAMESPACE: namespace })
      : undefined;
    if (held) return held;
    return {
      help: 'It is deleted when its finalizers are removed; they name the controllers that have not finished.',
      commands: ['ot-functions doctor'],
    };
  }
  if (target.status?.phase === undefined)
    return { help: 'Check whether the functions run and receive its events.', commands: ['ot-functions doctor'] };
  if (isOnOpenStack(target)) return remedyOnOpenStack(target);
  if (target.kind === 'VMDiskImage') return remedyForImage(target as VMDiskImage, known);
  return target.kind === 'VirtualMachine'
    ? remedyForMachine(target as VirtualMachine, known)
    : remedyForWorkspace(target);
}

function remedyForImage(image: VMDiskImage, known: Known): Remedy {
  const { secrets, queue, policy, nowMs } = known;
  const phase = image.status?.phase;
  if (phase === 'Failed') {
    const remedy = remedyForFailed(image);
    const isSecretMissing = conditionOf(image.status?.conditions, 'Ready')?.reason === 'SecretMissing';
    return isSecretMissing ? remedyForImageWithoutSecret(image, known, remedy) : remedy;
  }
  const missing = awaitedSecretOf(image).find((ref) => secrets.get(keyOf(ref)) === false);
  if (missing) return remedyForMissingSecret(missing);
  if (phase === 'Retrying') return remedyForRetrying(image);
  if (phase !== 'Queued') return remedyForImageReason(image) ?? waiting(image);
  if (queue.slots.some((slot) => slot.image === keyOf(image.metadata))) {
    return {
      help: 'Its last attempt still has the slot; it starts when the DataVolume and the Pod of that are gone.',
      commands: [`kubectl get dv,pods,pvc -n ${image.metadata.namespace}`],
    };
  }
  const place = placeOf(image, known);
  const holders = queue.slots.map((slot) => slot.image).join(', ');
  const when = place?.startsAt ? Math.max(0, Date.parse(place.startsAt) - nowMs) : undefined;
  const forecast =
    when === undefined || (when === 0 && isUninspected(place?.waitsFor))
      ? ''
      : ` It may start ${when > 0 ? `in about ${formatSpan(when)}` : 'at any moment'}.`;
  const { help, commands } = remedyForWait(image, place?.waitsFor ?? null, policy);
  return {
    help: `It is number ${place?.place ?? '?'} in the queue; ${describeSlots(queue)}${holders ? ` (${holders})` : ''}.${forecast} ${help}`,
    commands: ['ot-functions queue', ...commands],
  };
}

/** What would let an image of the queue start earlier. */
function remedyForWait(image: VMDiskImage, waitsFor: WaitReason | null, { values }: Policy): Remedy {
  const { namespace, name } = image.metadata;
  switch (waitsFor) {
    case 'Inspection':
      return (
        remedyForImageReason(image) ?? {
          ...waiting(image),
          help: `First its source is inspected, for at most ${formatSpan(values.inspectTimeout)}.`,
        }
      );
    case 'SourceUnreachable':
      return {
        help: 'Its source cannot be reached, and as the policy has an egressBudget, it waits until it can: correct its url, or let it start anyway.',
        commands: [editImage(image.metadata), `kubectl annotate vmdi ${name} -n ${namespace} ${releasesBudget}=true`],
      };
    case 'SameContent':
      return {
        ...waiting(image),
        help: 'Another of the same content is downloaded first; this one is cloned from it.',
      };
    case 'NamespaceFull': {
      const { slotsPerNamespace = 1 } = values;
      return {
        help: 'Its namespace holds all of its slots. More at once: raise slotsPerNamespace.',
        commands: [`ot-functions policy set slotsPerNamespace ${slotsPerNamespace + 1}`],
      };
    }
    case 'SlotFree':
    case 'SlotsUnknown':
      return {
        help: 'If it does not start, look for what keeps start-sync from it.',
        commands: ['ot-functions doctor'],
      };
    default:
      return {
        help: 'More at once: raise concurrency.',
        commands: [`ot-functions policy set concurrency ${values.concurrency + 1}`],
      };
  }
}

function remedyForMachine(machine: VirtualMachine, known: Known): Remedy {
  const { namespace, name } = machine.metadata;
  const ready = conditionOf(machine.status?.conditions, 'Ready');
  const lacksImage = ready?.reason === 'ImageMissing';
  if (lacksImage && !mayCreateImage(machine)) return remedyForMachineWithoutImage(machine, known);
  const remedy = lacksImage ? undefined : remedyForMachineReason(machine, ready?.reason);
  if (remedy) return remedy;
  const { trouble } = machine.status ?? {};
  const isOnItsWay = phaseOf(machine) === 'Provisioning' && (!trouble || machineSteps.includes(trouble.reason));
  const describe = `kubectl describe otvm ${name} -n ${namespace}`;
  if (isOnItsWay) return { ...waiting(machine), commands: [...waiting(machine).commands, describe] };
  return {
    help: 'Correct what its message names; the machine then recovers by itself.',
    commands: [describe, `kubectl get vmi ${name} -n ${namespace} -o wide`],
  };
}

const remedyForWorkspace = (workspace: Target): Remedy =>
  phaseOf(workspace) === 'Failed'
    ? { help: 'Correct its spec as its message says.', commands: [`kubectl edit otws ${workspace.metadata.name}`] }
    : waiting(workspace);

/** The chain, what would help, and the latest warnings about its last object. */
export function whyLines({ steps, help, commands, at }: Why, events: readonly string[]): string[] {
  return [
    ...steps.map(({ about, phase, says }, index) => `${index === 0 ? '' : '  because '}${about} is ${phase}: ${says}`),
    ...(help ? ['', `What would help: ${help}`] : []),
    ...commands.map((command) => `  ${command}`),
    ...(events.length > 0 ? ['', `Warnings about ${formatTyped(at)}:`, ...events.map((event) => `  ${event}`)] : []),
  ];
}
