import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { WorkspaceMachine } from '../../../shared/kinds/pelotech/workspace.ts';
import { nameOf } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { contains } from '../contains.ts';
import { failed, provisioning, ready, type Standing } from '../stage.ts';

/** Disks can be cloned from it. */
export const isUsable = (image: VMDiskImage | undefined): image is VMDiskImage =>
  image !== undefined &&
  image.metadata.deletionTimestamp === undefined &&
  (image.status?.phase === 'Succeeded' || conditionOf(image.status?.conditions, 'Ready')?.status === 'True');

/** How an existing image stands that these machines want. */
export function standingOfImage(image: VMDiskImage, machines: readonly WorkspaceMachine[]): Standing {
  const { metadata, status } = image;
  const called = nameOf(VMDiskImage, metadata);
  if (metadata.deletionTimestamp)
    return provisioning('ImageTerminating', `${called} is being deleted; waiting until it is gone.`);
  const others = differing(image, machines).join(', ');
  if (isUsable(image)) {
    return others === ''
      ? ready('Succeeded', `${called} exists.`)
      : ready('TemplateMismatch', `${called} exists and is used, though vmDiskImageTemplate has another ${others}.`);
  }
  const { phase, message = '' } = status ?? {};
  // The image itself reports its progress and its place in the queue: they change all the time.
  if (phase === 'Failed') {
    const cure = others === '' ? '' : ` Its ${others} is not that of vmDiskImageTemplate: delete it to recreate it.`;
    return failed('ImageFailed', `${called} Failed: ${message}${cure}`);
  }
  return phase === undefined
    ? provisioning('ImageQueued', `${called} has not been looked at yet.`)
    : provisioning(`Image${phase}`, `${called} is ${phase}.`);
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
  return image.metadata.deletionTimestamp ? 'is being deleted' : `is ${image.status?.phase ?? 'not there yet'}`;
};
