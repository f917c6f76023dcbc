import type { Pod } from '../controller/kinds.ts';
import { ownedBy } from '../controller/owner.ts';
import { networksAnnotation } from '../workloads/networks.ts';
import { claimNameOf, secretNamesOf, type VirtualMachineInstance, word } from './kinds.ts';

/** Pods that name this scheduler are this node's: a real scheduler leaves them alone, and so does the scheduler of the importers. */
export const launcherScheduler = 'ot-simulated-kubevirt';

/** Keeps a deleted launcher until its guest is down: nothing else would, since it is on no real node. */
export const launcherFinalizer = 'ot-simulated/virt-handler';

/** A temporary launcher that makes the scheduler choose a node for a disk whose class waits for its consumer. */
export const isTemporary = ({ metadata }: Pod) => metadata.annotations?.[word.ephemeralProvisioning] === 'true';

/**
 * The Pod that a guest runs in (KubeVirt pkg/virt-controller/services/template.go), with what decides whether it can start: its
 * claims and its Secrets. `suffix` makes its name a new one.
 */
export function launcherPodFor(instance: VirtualMachineInstance, suffix: string, temporary: boolean) {
  const { name, namespace, uid, labels, annotations = {} } = instance.metadata;
  const { volumes = [], terminationGracePeriodSeconds = 30, networks = [], serviceAccountName } = instance.spec;
  const claims = volumes.flatMap((volume) => {
    const claimName = claimNameOf(volume);
    return claimName ? [{ name: volume.name, persistentVolumeClaim: { claimName } }] : [];
  });
  const secrets = [...new Set(secretNamesOf(instance.spec))].map((secretName, index) => ({
    name: `cloud-init-${index}`,
    secret: { secretName },
  }));
  const attached = networks.flatMap(({ multus }) => multus?.networkName ?? []);
  return {
    metadata: {
      name: `virt-launcher-${name}-${suffix}`,
      namespace,
      labels: { ...labels, 'kubevirt.io': 'virt-launcher', [word.createdBy]: uid, 'vm.kubevirt.io/name': name },
      annotations: {
        ...annotations,
        'kubevirt.io/domain': name,
        ...(temporary ? { [word.ephemeralProvisioning]: 'true' } : {}),
        ...(attached.length > 0 ? { [networksAnnotation]: JSON.stringify(attached.map(networkOf(namespace))) } : {}),
      },
      finalizers: [launcherFinalizer],
      ownerReferences: [ownedBy(instance)],
    },
    spec: {
      schedulerName: launcherScheduler,
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: terminationGracePeriodSeconds + 15,
      ...(serviceAccountName ? { serviceAccountName } : {}),
      volumes: [...claims, ...(temporary ? [] : secrets)],
      containers: [
        { name: 'compute', image: 'quay.io/kubevirt/virt-launcher:v1.9.0', command: ['/usr/bin/virt-launcher'] },
      ],
    },
  };
}

const networkOf =
  (home = '') =>
  (networkName: string) => {
    const { namespace, name } = networkReference(networkName, home);
    return { name, namespace };
  };

/** What a machine's `networkName` names: `name` at home, or `namespace/name`. */
function networkReference(networkName: string, home: string | undefined) {
  const [first = '', ...rest] = networkName.split('/');
  return rest.length > 0 ? { namespace: first, name: rest.join('/') } : { namespace: home, name: first };
}

/** Names of the Secrets that a launcher mounts. */
export const mountedSecrets = ({ spec }: Pod) =>
  spec.volumes.flatMap((volume) => {
    const { secretName } = (volume as { secret?: { secretName?: string } }).secret ?? {};
    return secretName ?? [];
  });
