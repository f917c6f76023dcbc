import type { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Step } from './follow.ts';
import { isReadable } from './plain-policy.ts';
import { policiesOf } from './reconcile.ts';

interface Volume {
  name?: string;
  emptyDir?: object;
  configMap?: { name?: string };
  secret?: { secretName?: string };
  persistentVolumeClaim?: { claimName?: string };
}
interface Container {
  env?: { valueFrom?: unknown }[];
  envFrom?: unknown[];
}
interface PodSpec {
  volumes?: Volume[];
  containers?: Container[];
  initContainers?: Container[];
  automountServiceAccountToken?: boolean;
  serviceAccountName?: string;
  imagePullSecrets?: unknown[];
}
interface Workload extends KubernetesObject {
  spec?: { template?: { metadata?: { annotations?: Record<string, string> }; spec?: PodSpec } };
}

/** The networks, `namespace/name`, that a machine of KubeVirt or the Pods of a workload join. */
function networksOf(object: KubernetesObject): string[] {
  const { template } = (object as Workload).spec ?? {};
  const multus = (template?.spec as { networks?: { multus?: { networkName?: string } }[] } | undefined)?.networks ?? [];
  const text = template?.metadata?.annotations?.['k8s.v1.cni.cncf.io/networks'];
  const attached = (text ? JSON.parse(text) : []) as { namespace?: string; name: string }[];
  const { namespace = '' } = object.metadata;
  return [
    ...multus.flatMap((one) => (one.multus?.networkName ? [one.multus.networkName] : [])),
    ...attached.map((one) => `${one.namespace ?? namespace}/${one.name}`),
  ].map((name) => (name.includes('/') ? name : `${namespace}/${name}`));
}

/** A machine joins networks of its own namespace, and of those that the policy opens; a Pod of a Workspace its own only. */
export function foreignNetwork(step: Step): string | undefined {
  const { object, before, change } = step;
  const { namespace, name } = object.metadata;
  const had = before ? networksOf(before) : [];
  const opened = policiesOf(step).flatMap((policy) =>
    isReadable(policy, 'machineNetworks') ? policy.values.machineNetworks : [],
  );
  const allowed = [namespace, ...(change.by === 'provision-vm' ? opened : [])];
  const foreign = networksOf(object).find((one) => !had.includes(one) && !allowed.includes(one.split('/')[0]));
  return foreign && `${namespace}/${name} joins network ${foreign}, of a namespace that is not in machineNetworks`;
}

/** A machine has an instancetype of those that the policy names, or had it before. */
export function foreignInstancetype(step: Step): string | undefined {
  const { object, before } = step;
  const typeOf = (one: KubernetesObject | undefined) =>
    (one as { spec?: { instancetype?: { name?: string } } } | undefined)?.spec?.instancetype?.name;
  const name = typeOf(object);
  const isNamed = (pattern: string) =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(name ?? '');
  const allowed = policiesOf(step).flatMap((policy) =>
    isReadable(policy, 'machineInstancetypes') ? policy.values.machineInstancetypes : [],
  );
  return name === undefined || typeOf(before) === name || allowed.some(isNamed)
    ? undefined
    : `${object.metadata.namespace}/${object.metadata.name} has instancetype ${name}, which is not in machineInstancetypes`;
}

/** What a Workspace's own roles may mount of Secrets: the login that was made for them. */
const rolesSecret = 'ansible-credentials';

/** A container of a Workspace mounts the volumes of that Workspace, and its environment is text; only what runs its roles has more. */
export function mountsJudge() {
  /** The volumes that each Workspace ever had, by its namespace. */
  const volumesOf = new Map<string, Set<string>>();
  return {
    workspace({ object: { metadata, spec } }: Step<Workspace>): undefined {
      const namespace = `ws-${metadata.name}`;
      const known = volumesOf.get(namespace) ?? new Set();
      volumesOf.set(namespace, known);
      for (const { name } of spec.volumes ?? []) known.add(name);
    },
    workload({ object, change }: Step): string | undefined {
      const { namespace = '', name } = object.metadata;
      const spec = (object as Workload).spec?.template?.spec;
      if (change.by !== 'compose-workspace' || !spec?.containers) return undefined;
      const at = `${object.kind} ${namespace}/${name}`;
      const volumes = volumesOf.get(namespace);
      if (!volumes) return `${at} is in no namespace of a Workspace`;
      const foreign = spec.volumes?.find(
        (volume) => !isOwn(volume, volumes) && !(object.kind === 'Job' && isOfRoles(volume)),
      );
      if (foreign) return `${at} mounts ${JSON.stringify(foreign)}, which is no volume of its Workspace`;
      const more = moreThanText(spec);
      return more && `${at} has ${more}`;
    },
  };
}

const isOwn = ({ emptyDir, persistentVolumeClaim: claim }: Volume, volumes: ReadonlySet<string>) =>
  emptyDir !== undefined || volumes.has(claim?.claimName ?? '');

const isOfRoles = ({ configMap, secret }: Volume) => configMap !== undefined || secret?.secretName === rolesSecret;

/** What tells a Pod more than its Workspace says. */
function moreThanText(spec: PodSpec): string | undefined {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  if (containers.some(({ env = [], envFrom = [] }) => envFrom.length > 0 || env.some((one) => one.valueFrom)))
    return 'an environment that is read from another object';
  if (spec.automountServiceAccountToken !== false || spec.serviceAccountName) return 'a token';
  return spec.imagePullSecrets?.length ? 'the login of a registry' : undefined;
}

/** A claim of a Workspace is empty at first: it is no copy, and no volume that exists. */
export function foreignContent({ object, before, change }: Step): string | undefined {
  const { volumeName, dataSource, dataSourceRef } = (object as { spec?: Record<string, unknown> }).spec ?? {};
  if (before || change.by !== 'compose-workspace' || !(volumeName || dataSource || dataSourceRef)) return undefined;
  return `the claim ${object.metadata.namespace}/${object.metadata.name} has the content of another volume`;
}
