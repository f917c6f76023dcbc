import { missingLine, redactUrl } from '../../shared/images/sources.ts';
import type { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { createImage, type GlanceImage, importImage } from '../../shared/kinds/openstack/image.ts';
import type { OpenStackRequest } from '../../shared/kinds/openstack/request.ts';
import { isValid } from '../../shared/policy.ts';
import type { Reason } from '../../shared/reasons/reason.ts';
import type { Found, Observed } from './observed.ts';

/** What a volume is filled from, as far as it has come. */
export type Source =
  | { is: 'empty' }
  | { is: 'ready'; image: string }
  | { is: 'asked for'; request: OpenStackRequest }
  | { is: 'on its way' }
  /** A download that went wrong: the image that was to hold it, and the message about it. */
  | { is: 'failed'; image: GlanceImage; message: string }
  | { is: 'missing'; reason: Reason; message: string; isFinal: boolean };

export const isUrl = (image: string) => /^https?:\/\//.test(image);

/** True for what Glance takes for an id. */
export const isId = (image: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(image);

/** Where the content of a new volume comes from. */
export function sourceOf({ volume, policy }: Pick<Observed, 'volume' | 'policy'>, found: Found): Source {
  const image = volume.spec.source?.image;
  if (image === undefined) return { is: 'empty' };
  return isUrl(image) ? downloaded(volume, image, policy, found) : named(image, found);
}

function named(image: string, { named: images }: Found): Source {
  const [first, second] = images;
  const missing = (reason: Reason, message: string): Source => ({ is: 'missing', reason, message, isFinal: false });
  if (!first)
    return missing(
      'ImageMissing',
      `Expected an image of the name or id ${image} that the project may use in Glance, found none.`,
    );
  if (second) return missing('ImageNotUnique', `Expected one image ${image} in Glance, found several: say its id.`);
  if (first.status === 'active') return { is: 'ready', image: first.id };
  return missing('ImageNotActive', `Image ${image} is ${first.status} in Glance.`);
}

function downloaded(volume: Volume, url: string, policy: Observed['policy'], { own }: Found): Source {
  const [image] = own;
  if (image?.status === 'active') return { is: 'ready', image: image.id };
  if (image && (image.os_glance_failed_import !== '' || image.status === 'killed'))
    return { is: 'failed', image, message: `Glance could not download ${redactUrl(url)}` };
  if (image && image.status !== 'queued') return { is: 'on its way' };
  const refused = refusedSource(volume, policy, url);
  if (refused) return refused;
  const { uid, name } = volume.metadata;
  if (!image) return { is: 'asked for', request: createImage(uid, name, formatOf(url)) };
  // Glance accepts the request and shows it a moment later; asked twice it refuses the second (glance 25: 409).
  if (image.os_glance_importing_to_stores) return { is: 'on its way' };
  return { is: 'asked for', request: importImage(image.id, url) };
}

function refusedSource({ metadata }: Volume, policy: Observed['policy'], url: string): Source | undefined {
  if (!isValid(policy, 'allowedSources'))
    return {
      is: 'missing',
      reason: 'InvalidPolicy',
      message: 'The policy key allowedSources does not parse: nothing is downloaded until it is mended.',
      isFinal: false,
    };
  const missing = missingLine(policy, { namespace: metadata.namespace, spec: { url }, isAskedFor: true });
  if (!missing) return undefined;
  return {
    is: 'missing',
    reason: 'SourceNotAllowed',
    message: `Source not allowed: ${missing.message}.`,
    isFinal: true,
  };
}

const formats: Readonly<Record<string, string>> = {
  qcow2: 'qcow2',
  raw: 'raw',
  iso: 'iso',
  vmdk: 'vmdk',
  vdi: 'vdi',
  vhd: 'vhd',
  vhdx: 'vhdx',
};

/** By the name of the file; most cloud images called .img are qcow2. */
function formatOf(url: string): string {
  const [, suffix = ''] = /\.([a-z0-9]+)$/i.exec(redactUrl(url)) ?? [];
  return formats[suffix.toLowerCase()] ?? 'qcow2';
}
