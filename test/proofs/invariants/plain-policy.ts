import type { ConfigMap } from '../../../shared/kinds/core/config-map.ts';

/** A second parser of the policy: the invariants do not use the parser that they judge. */
export interface Policy {
  values: {
    concurrency: number;
    slotsPerNamespace: number;
    retryLimit: number;
    retryBackoffDuration: number;
    maxRetryBackoffDuration: number;
    startTimeout: number;
    syncTimeout: number;
    snapshotTimeout: number;
    inspectTimeout: number;
    pruneAfter: number;
    workspaceImagesKeptFor: number;
    egressBudget: { bytes: number; days: number } | undefined;
    keepRevisions: number;
    prune: string;
    retainSourceVolume: boolean;
    imageNamespaces: readonly string[];
    machineNetworks: readonly string[];
    machineInstancetypes: readonly string[];
    unsignedPublications: string;
    /** How an address that may be downloaded begins, and the Secret that may be sent there. */
    sources: readonly { prefix: string; secret: string | undefined }[];
  };
  /** The keys that do not parse. */
  faults: readonly string[];
}

const duration = /^(\d+(\.\d+)?(ms|s|m|h))+$/;
const name = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const bool = /^(true|false)$/;
const namespaces = /^[\s,]*[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([\s,]+[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*[\s,]*$/;
const some = /[^\s,]/;

/** The syntax of each key. */
const keys: Readonly<Record<string, RegExp>> = {
  concurrency: /^(\d{1,3}|1000)$/,
  slotsPerNamespace: /^([1-9]\d{0,2}|1000)$/,
  retryLimit: /^(\d{1,2}|100)$/,
  retryBackoffDuration: duration,
  maxRetryBackoffDuration: duration,
  startTimeout: duration,
  syncTimeout: duration,
  snapshotTimeout: duration,
  inspectTimeout: duration,
  egressBudget: /^[1-9]\d*(\.\d+)?(Ki|Mi|Gi|Ti|k|M|G|T)?\/([1-9]|[12]\d|3[01])d$/,
  egressPricePerGiB: /^\d{1,6}(\.\d{1,6})?$/,
  prune: /^(Never|DryRun|WhenUnreferenced)$/,
  pruneAfter: duration,
  workspaceImagesKeptFor: duration,
  keepRevisions: /^([1-9]|1\d|20)$/,
  retainSourceVolume: bool,
  dataSources: bool,
  allowedSources:
    /^((\s*[a-z][a-z0-9+.-]*:\/\/(\*\.)?[^\s/?#@*]+\/[^\s?#]*([ \t]+[a-z0-9][-a-z0-9.]*)?[ \t]*(\n|$))+)$/i,
  imageNamespaces: namespaces,
  machineNetworks: namespaces,
  machineInstancetypes: /^(\s*[a-z0-9*][-a-z0-9.*]{0,252}(?=\s|$))+$/,
  imageUrlTemplate: /^[a-z][a-z0-9+.-]*:\/\/\S+$/,
  imageStorageClass: name,
  imageSnapshotClass: name,
  imageSecretRef: name,
  imageDiskSize: /^[1-9]\d*(\.\d+)?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?$/,
  unsignedPublications: /^(Refuse|Accept)$/,
  ignoreOnDeploy: /^(Halt|Skip|Start)$/,
  networkProvider: /^(kube-ovn|bridge)$/,
  hostPorts: /^((?:[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d\d|655[0-2]\d|6553[0-5])\/(tcp|udp|sctp)(\s+|$))+$/,
  workspaceCapabilities: some,
  machineFailedAfter: duration,
  machineUnschedulableAfter: duration,
  openstackEndpoints: /^(\s*[a-z][a-z0-9+.-]*:\/\/(\*\.)?[^\s/?#@*]+\/[^\s?#]*)+$/i,
  serverRecoverAfter: duration,
  unreachableHostRecoverAfter: duration,
  ansible: /^(Run|External)$/,
  ansibleRunnerImage: /^[a-z0-9][\w.:@/-]{0,500}$/i,
  ansibleRolesConfigMap: name,
  ansibleControlNetwork: name,
  ansibleUser: /^[^\s:]{1,64}$/,
  ansibleCredentials: bool,
  ansibleTimeout: duration,
};

export function policyOf(configMap: Pick<ConfigMap, 'data'> | undefined): Policy {
  const data = configMap?.data ?? {};
  const isWrong = (key: string) => data[key] !== undefined && !keys[key]?.test(data[key].trim());
  const textOf = (key: string, otherwise: string) => (isWrong(key) ? otherwise : (data[key]?.trim() ?? otherwise));
  return {
    values: {
      concurrency: Number(textOf('concurrency', '4')),
      slotsPerNamespace: Number(textOf('slotsPerNamespace', 'Infinity')),
      retryLimit: Number(textOf('retryLimit', '2')),
      retryBackoffDuration: millisecondsIn(textOf('retryBackoffDuration', '5m')),
      maxRetryBackoffDuration: millisecondsIn(textOf('maxRetryBackoffDuration', '1h')),
      startTimeout: millisecondsIn(textOf('startTimeout', '15m')),
      syncTimeout: millisecondsIn(textOf('syncTimeout', '4h')),
      snapshotTimeout: millisecondsIn(textOf('snapshotTimeout', '2h')),
      inspectTimeout: millisecondsIn(textOf('inspectTimeout', '30s')),
      pruneAfter: millisecondsIn(textOf('pruneAfter', '168h')),
      workspaceImagesKeptFor: millisecondsIn(textOf('workspaceImagesKeptFor', '24h')),
      egressBudget: budgetIn(textOf('egressBudget', '')),
      keepRevisions: Number(textOf('keepRevisions', '2')),
      prune: textOf('prune', 'Never'),
      retainSourceVolume: textOf('retainSourceVolume', 'false') === 'true',
      imageNamespaces: textOf('imageNamespaces', 'vmdi-farm').split(/[\s,]+/),
      machineNetworks: textOf('machineNetworks', '').split(/[\s,]+/),
      machineInstancetypes: textOf('machineInstancetypes', '').split(/\s+/),
      unsignedPublications: textOf('unsignedPublications', 'Refuse'),
      sources: [
        ...textOf('allowedSources', '').split('\n').filter(Boolean),
        ...([textOf('imageUrlTemplate', ''), textOf('imageSecretRef', '')].join(' ').match(/^\S.*/g) ?? []),
      ].map((line) => {
        const [pattern = '', secret] = line.trim().split(/\s+/);
        return { prefix: pattern.split(/[*{]/)[0] ?? '', secret };
      }),
    },
    faults: Object.keys(keys).filter(isWrong),
  };
}

/** All of these keys parse. */
export const isReadable = ({ faults }: Policy, ...names: readonly string[]) =>
  !names.some((one) => faults.includes(one));

const sizes: Readonly<Record<string, number>> = {
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 },
  ...{ k: 1e3, M: 1e6, G: 1e9, T: 1e12 },
};

/** "500Gi/30d" */
function budgetIn(text: string): { bytes: number; days: number } | undefined {
  const [size = '', days = ''] = text.split('/');
  if (days === '') return undefined;
  const unit = size.replace(/[\d.]/g, '');
  return { bytes: Math.ceil(Number.parseFloat(size) * (sizes[unit] ?? 1)), days: Number.parseInt(days, 10) };
}

/** The milliseconds of a duration such as "1h30m". */
function millisecondsIn(text: string): number {
  let milliseconds = 0;
  for (const part of text.match(/[\d.]+[a-z]+/g) ?? []) {
    const amount = Number.parseFloat(part);
    if (part.endsWith('ms')) milliseconds += amount;
    else if (part.endsWith('s')) milliseconds += amount * 1000;
    else if (part.endsWith('m')) milliseconds += amount * 60_000;
    else if (part.endsWith('h')) milliseconds += amount * 3_600_000;
  }
  return Math.round(milliseconds);
}
