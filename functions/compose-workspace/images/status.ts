import { reasonOfWait, troubleOf } from '../../../shared/images/stopped.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { contains } from '../contains.ts';
import { type ComponentStatus, failed, provisioning, ready } from '../stage.ts';

/** Disks can be cloned from it. */
export const isUsable = (image: VMDiskImage | undefined): image is VMDiskImage =>
  image !== undefined &&
  image.metadata.deletionTimestamp === undefined &&
  (image.status?.phase === 'Succeeded' || conditionOf(image.status?.conditions, 'Ready')?.status === 'True');

/** The status of an existing image that these machines need. */
export function statusOfImage(image: VMDiskImage, machines: readonly WorkspaceMachine[]): ComponentStatus {
  const { metadata, status } = image;
  const place = `in namespace ${metadata.namespace}`;
  if (metadata.deletionTimestamp)
    return provisioning('ImageTerminating', `It is being deleted ${place}; waiting until it is gone.`);
  const others = differing(image, machines).join(', ');
  if (isUsable(image)) {
    return others === ''
      ? ready('Succeeded', `It exists ${place}.`)
      : ready('TemplateMismatch', `It exists ${place} and is used, though vmDiskImageTemplate has another ${others}.`);
  }
  const { phase, message = '' } = status ?? {};
  // The image itself reports its progress and its place in the queue: they change all the time.
  if (phase === 'Failed') {
    const cure = others === '' ? '' : ` Its ${others} is not that of vmDiskImageTemplate: delete it to recreate it.`;
    return failed('ImageFailed', `Failed ${place}: ${message}${cure}`);
  }
  if (phase === undefined) return provisioning('ImageQueued', `It exists ${place} and is not queued yet.`);
  const trouble = troubleOf(image);
  return provisioning(reasonOfWait(phase), `${phase} ${place}${trouble ? `: ${trouble}` : '.'}`);
}

/** The fields in which an image differs from the template of one of the machines. */
const differing = ({ spec }: VMDiskImage, machines: readonly WorkspaceMachine[]): string[] => [
  ...new Set(
    machines.flatMap(({ vmDiskImageTemplate: template }) =>
      template
        ? (Object.keys(template) as (keyof VMDiskImage['spec'])[]).filter((key) => !contains(spec[key], template[key]))
        : [],
    ),
  ),
];

/** An image that is not usable. */
export const describeLost = (image: VMDiskImage | undefined) => {
  if (!image) return 'is gone';
  return image.metadata.deletionTimestamp ? 'is being deleted' : `is ${image.status?.phase ?? 'not queued yet'}`;
};
