import { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { digestOf } from '../../../shared/kubernetes/names.ts';
import type { Policy } from '../../../shared/policy.ts';
import { childMetadata } from '../children.ts';
import { type MatcherField, matcherFields } from './hardware.ts';
import { merged } from './merge-patch.ts';
import { cloudInit, kubeOvn, root, wanted } from './template.ts';

/** Digest of what we want of the machine: KubeVirt adds to what it is given, so that comparing the whole finds differences for ever. */
const wantedDigest = 'pelotech.ot/wanted-digest';

/** How the machine was to run when we last wrote it; from then on it is started and stopped by people. */
const askedToRun = 'pelotech.ot/run-strategy';

/** How the machine ran before `spec.halted` stopped it: what a person chose then counts again afterwards. */
const ranBefore = 'pelotech.ot/run-strategy-before-halt';

/** Which of the fields that only some machines ask for were written: what a person added is not removed with them. */
const wantedFields = 'pelotech.ot/wanted-fields';

/** The fields of a template that only some machines ask for. */
const optionalFields: Readonly<Record<string, readonly string[]>> = {
  sockets: ['spec', 'domain', 'cpu', 'sockets'],
  readinessProbe: ['spec', 'readinessProbe'],
  livenessProbe: ['spec', 'livenessProbe'],
  bootloader: ['spec', 'domain', 'firmware', 'bootloader'],
  smm: ['spec', 'domain', 'features', 'smm'],
  tpm: ['spec', 'domain', 'devices', 'tpm'],
};

const fieldsOf = ({ matchers, template }: ReturnType<typeof wanted>): string[] => [
  ...Object.keys(matchers ?? {}),
  ...Object.keys(optionalFields).filter((name) => (valueAt(template, optionalFields[name] ?? []) ?? null) !== null),
];

const valueAt = (value: unknown, [key, ...rest]: readonly string[]): unknown =>
  key === undefined ? value : valueAt((value as Record<string, unknown> | undefined)?.[key], rest);

const removalOf = ([key, ...rest]: readonly string[]): unknown =>
  key === undefined ? null : { [key]: removalOf(rest) };

const fieldsNoted = (fields: readonly string[]) => (fields.length > 0 ? { [wantedFields]: fields.join(' ') } : {});

type RunStrategy = 'Always' | 'Halted';

export function kubeVirtMachineFor(machine: VirtualMachine, policy: Policy, runStrategy: RunStrategy) {
  const asked = wanted(machine, policy);
  const metadata = childMetadata(machine, machine.metadata.name);
  const annotations = {
    ...{ [wantedDigest]: digestOf(asked), [askedToRun]: runStrategy },
    ...fieldsNoted(fieldsOf(asked)),
  };
  return {
    apiVersion: KubeVirtMachine.apiVersion,
    kind: KubeVirtMachine.kind,
    metadata: { ...metadata, labels: { ...metadata.labels, ...(merged({}, asked.labels) as object) }, annotations },
    spec: { runStrategy, ...asked.matchers, template: merged({}, asked.template) },
  };
}

/**
 * The KubeVirt machine as it should be, where it is not; undefined where it is. What KubeVirt or a person added stays; a
 * machine that was made halted is started once that is wanted, and only `spec.halted` stops one.
 */
export function changedKubeVirtMachine(
  machine: VirtualMachine,
  policy: Policy,
  { found, runStrategy }: { found: KubeVirtMachine; runStrategy: RunStrategy },
): KubeVirtMachine | undefined {
  const next = wanted(machine, policy);
  const digest = digestOf(next);
  const run = nextRun(machine, found, runStrategy);
  const { [wantedFields]: before = '', ...annotations } = run?.annotations ?? found.metadata.annotations ?? {};
  const fields = fieldsOf(next);
  const gone = before.split(' ').filter((name) => !fields.includes(name));
  if (annotations[wantedDigest] === digest && !run) return undefined;
  const removals = [
    { metadata: { annotations: staleAnnotations(found) } },
    ...gone.flatMap((name) => (optionalFields[name] ? [removalOf(optionalFields[name])] : [])),
  ];
  const withoutOld = removals.reduce(merged, found.spec?.template ?? {});
  const template = withAdded(merged(withoutOld, next.template) as Template, withoutOld as Template);
  return {
    ...found,
    metadata: {
      ...found.metadata,
      labels: merged(found.metadata.labels ?? {}, next.labels) as Record<string, string>,
      annotations: { ...annotations, ...fieldsNoted(fields), [wantedDigest]: digest },
    },
    spec: { ...found.spec, ...run?.spec, ...matchersAfter(found, next.matchers, gone), template },
  };
}

/** KubeVirt notes in a matcher which copy of its object counts (kubevirt, pkg/instancetype/revision); another name needs another copy. */
const matchersAfter = (
  { spec }: KubeVirtMachine,
  next: ReturnType<typeof wanted>['matchers'] = {},
  gone: readonly string[],
): Pick<NonNullable<KubeVirtMachine['spec']>, MatcherField> => {
  const kept = (field: MatcherField) => (gone.includes(field) ? undefined : spec?.[field]);
  const after = (field: MatcherField) =>
    next[field] && spec?.[field]?.name !== next[field].name ? next[field] : kept(field);
  return Object.fromEntries(
    matcherFields.map((field) => [field, after(field)] as const).filter(([field, value]) => value || spec?.[field]),
  );
};

/** The KubeVirt machine was last written as it is wanted now. */
export const isAsWanted = (machine: VirtualMachine, policy: Policy, { metadata }: KubeVirtMachine) =>
  metadata.annotations?.[wantedDigest] === digestOf(wanted(machine, policy));

/** How the machine is to run from now on, and what is noted of it; undefined if that stays as it is. */
function nextRun({ spec: { halted } }: VirtualMachine, { metadata, spec }: KubeVirtMachine, runStrategy: RunStrategy) {
  const { [ranBefore]: before, ...annotations } = metadata.annotations ?? {};
  const { runStrategy: found = 'Always' } = spec ?? {};
  if (halted) {
    if (found === 'Halted') return undefined;
    return { spec: { runStrategy: 'Halted' }, annotations: { ...annotations, [ranBefore]: before ?? found } };
  }
  if (annotations[askedToRun] === 'Halted' && runStrategy === 'Always') {
    return { spec: { runStrategy }, annotations: { ...annotations, [askedToRun]: runStrategy } };
  }
  return before === undefined ? undefined : { spec: { runStrategy: before }, annotations };
}

/** Whether the machine is to run once it is made. */
export const runStrategyFor = ({ spec }: VirtualMachine, { values }: Policy): RunStrategy =>
  spec.halted || (spec.ignoreOnDeploy && values.ignoreOnDeploy !== 'Start') ? 'Halted' : 'Always';

/** The machine was told to run, by us or by a person. */
export const isToRun = ({ metadata, spec }: KubeVirtMachine) =>
  metadata.annotations?.[askedToRun] === 'Always' || spec?.runStrategy === 'Always';

type Named = { name: string };
interface Template {
  spec?: { domain?: { devices?: { disks?: readonly Named[] } }; volumes?: readonly Named[] };
}

/** Disks that were plugged in by others stay, and the disk of a backup that was put in place of ours. */
function withAdded(next: Template, found: Template): Readonly<Record<string, unknown>> {
  const { domain, volumes = [] } = next.spec ?? {};
  const rootFound = found.spec?.volumes?.find(({ name }) => name === root);
  const added = (list: readonly Named[] = []) => list.filter(({ name }) => name !== root && name !== cloudInit);
  const disks = [...(domain?.devices?.disks ?? []), ...added(found.spec?.domain?.devices?.disks)];
  return {
    ...next,
    spec: {
      ...next.spec,
      domain: { ...domain, devices: { ...domain?.devices, disks } },
      volumes: [
        ...volumes.map((one) => (one.name === root && rootFound ? rootFound : one)),
        ...added(found.spec?.volumes),
      ],
    },
  };
}

const staleAnnotations = ({ spec }: KubeVirtMachine): Record<string, null> => {
  const { metadata } = (spec?.template ?? {}) as { metadata?: { annotations?: Record<string, string> } };
  const old = Object.keys(metadata?.annotations ?? {}).filter((key) => key.includes(kubeOvn));
  return Object.fromEntries(old.map((key) => [key, null]));
};
