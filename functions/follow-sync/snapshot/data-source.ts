import type { Action } from '../../../shared/actions.ts';
import { isAdopting } from '../../../shared/images/adoption.ts';
import { afterwards } from '../../../shared/images/status.ts';
import { DataSource } from '../../../shared/kinds/cdi/data-source.ts';
import { imageUidLabel, managedBy, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { recordEvent } from '../../../shared/kubernetes/events.ts';
import { controlledBy, owns } from '../../../shared/kubernetes/ownership.ts';
import { traceOfImage } from '../../../shared/traces.ts';
import type { Observed } from '../observed.ts';

/** Whether what is decided about the image may change what its DataSource names. */
export const mayBeSource = (image: VMDiskImage) =>
  image.status?.snapshot !== undefined || image.status?.phase === 'Snapshotting' || isAdopting(image);

/**
 * Has the image's DataSource name the snapshot that machines are cloned from once `actions` are performed, after its status does. It has
 * the image's name and goes with it. Nothing where the policy does not ask for it.
 */
export function offering({ image, dataSource }: Observed, actions: readonly Action[]): Action[] {
  const { snapshot } = afterwards(image, actions).status ?? {};
  if (!dataSource || !snapshot) return [];
  const { namespace, name, uid, labels = {} } = image.metadata;
  const { found } = dataSource;
  if (found && !owns(image, found)) {
    const message = `Expected DataSource ${name} to be the image's own, found another's; it is left as it is. Delete or rename it.`;
    return [recordEvent(image, true, 'NameTaken', message, found.metadata.uid)];
  }
  const now = found?.spec?.source.snapshot;
  if (now?.name === snapshot.name && now.namespace === namespace) return [];
  const defaults = Object.entries(labels).filter(([key]) => key.startsWith('instancetype.kubevirt.io/default-'));
  const object = {
    metadata: {
      namespace,
      name,
      labels: { ...managedBy, [imageUidLabel]: uid, ...Object.fromEntries(defaults) },
      ownerReferences: [controlledBy(VMDiskImage, image)],
    },
    spec: { source: { snapshot: { namespace, name: snapshot.name } } },
  };
  return [{ do: 'apply', resource: DataSource, object, trace: traceOfImage(image) }];
}
