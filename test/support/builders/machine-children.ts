import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import { KubeVirtInstance } from '../../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { at } from './images.ts';

interface Said {
  status?: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

/** What a function made for a machine, as the API server shows it afterwards. */
const shown = (object: unknown) => {
  const { metadata } = object as { metadata: { name: string } };
  return { ...(object as object), metadata: { ...metadata, uid: `uid-of-${metadata.name}`, resourceVersion: '20' } };
};

/** The root disk that was made so, with what CDI says of it. */
export function aRootDisk(
  made: unknown,
  {
    phase = 'Succeeded',
    createdAfterSeconds = 0,
    hasClaim = true,
    ...conditions
  }: { phase?: string; createdAfterSeconds?: number; hasClaim?: boolean; bound?: Said; running?: Said } = {},
): DataVolume {
  const { bound = { status: phase === 'Succeeded' ? 'True' : 'False' }, running = { status: 'False' } } = conditions;
  const object = shown(made);
  return DataVolume.parse({
    ...object,
    metadata: { ...object.metadata, creationTimestamp: at(createdAfterSeconds) },
    status: {
      phase,
      ...(hasClaim ? { claimName: object.metadata.name } : {}),
      conditions: [
        { type: 'Bound', ...bound },
        { type: 'Running', ...running },
      ],
    },
  });
}

export const aSecret = (made: unknown): Secret => Secret.parse(shown(made));

/** The KubeVirt machine that was made so, with what KubeVirt says of it. */
export function aKubeVirtMachine(
  made: unknown,
  status: { printableStatus?: string; ready?: boolean; fails?: number; conditions?: (Said & { type: string })[] } = {},
): KubeVirtMachine {
  const { fails, ...said } = status;
  return KubeVirtMachine.parse({
    ...shown(made),
    status: {
      printableStatus: 'Stopped',
      ...said,
      ...(fails === undefined ? {} : { startFailure: { consecutiveFailCount: fails } }),
    },
  });
}

/** What runs of a machine. */
export const anInstance = (
  { metadata }: VirtualMachine,
  status: {
    phase?: string;
    nodeName?: string;
    interfaces?: { name: string; ipAddress?: string; mac?: string }[];
    conditions?: (Said & { type: string })[];
    phaseTransitionTimestamps?: { phase: string; phaseTransitionTimestamp: string }[];
  } = {},
  spec: object = {},
): KubeVirtInstance => KubeVirtInstance.parse({ metadata: { ...metadata, uid: `vmi-${metadata.uid}` }, spec, status });
