import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { isValid, type Policy } from '../../../shared/policy.ts';

type Spec = VMDiskImage['spec'];

const policyKeys = ['imageUrlTemplate', 'imageStorageClass', 'imageSnapshotClass'] as const;

/** What a missing image is made of: the machine's template, else what the policy makes of a bare name. */
export function templateOf(machine: WorkspaceMachine, policy: Policy): { spec: Spec } | { lacks: string } {
  const { backingVMDiskImage: name, vmDiskImageTemplate, version, diskSize } = machine;
  if (vmDiskImageTemplate) return { spec: vmDiskImageTemplate };
  const { values } = policy;
  const broken = [...policyKeys, 'imageSecretRef', 'imageDiskSize'] as const;
  const unreadable = broken.find((key) => !isValid(policy, key));
  if (unreadable) return { lacks: `the policy's ${unreadable} does not parse` };
  const { imageUrlTemplate, imageStorageClass, imageSnapshotClass, imageSecretRef } = values;
  const size = values.imageDiskSize ?? diskSize;
  const lacks = [
    ...policyKeys.filter((key) => values[key] === undefined),
    ...(size === undefined ? ['imageDiskSize'] : []),
  ];
  if (!imageUrlTemplate || !imageStorageClass || !imageSnapshotClass || !size) {
    return { lacks: `there is no vmDiskImageTemplate, and the policy has no ${lacks.join(', ')}` };
  }
  if (imageUrlTemplate.includes('{version}') && !version) {
    return { lacks: `machine ${machine.name} has no version, which the policy's imageUrlTemplate asks for` };
  }
  const url = imageUrlTemplate.replaceAll('{name}', name).replaceAll('{version}', version ?? '');
  const sourceType = sourceTypeOf(url, imageSecretRef);
  return {
    spec: {
      name,
      url,
      sourceType,
      storageClass: imageStorageClass,
      snapshotClass: imageSnapshotClass,
      diskSize: size,
      // Only S3 gets the policy's Secret: elsewhere it would be sent to the owner of the url.
      ...(sourceType === 's3' && imageSecretRef ? { secretRef: imageSecretRef } : {}),
    },
  };
}

const sourceTypeOf = (url: string, secretRef: string | undefined): Spec['sourceType'] => {
  if (/^(docker|oci-archive):/.test(url)) return 'registry';
  return secretRef ? 's3' : 'http';
};
