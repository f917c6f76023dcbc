import * as z from 'zod';
import { diskQuantity, phases } from './kinds/pelotech/vm-disk-image.ts';

/** A pipeline published an image: download it, or download it again. */
export const imagePublished = 'ot.pelotech.image.published.v1';

/**
 * What a pipeline says of an image. Namespace, Secret and classes are the policy's business, so that a sender can name
 * no Secret; `namespace` may choose among the policy's imageNamespaces.
 */
export const ImagePublished = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'expected lower-case letters, digits and "-" (RFC 1123)')
    .max(200),
  namespace: z.string().optional(),
  version: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/, 'expected letters, digits, ".", "_", "+" and "-"')
    .max(128)
    .optional(),
  url: z.string().min(1).max(2048).optional(),
  sourceType: z.enum(['s3', 'http', 'registry']).optional(),
  diskSize: z.string().regex(new RegExp(diskQuantity), 'expected a size such as 24Gi').optional(),
  checksum: z.string().max(160).optional(),
  /** Tells contents apart: the same digest asks for no second download. */
  digest: z.string().min(1).max(256).optional(),
});
export type ImagePublished = z.infer<typeof ImagePublished>;

const subject = {
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  /** When it came to be so. */
  time: z.string().meta({ format: 'date-time' }),
};

/** One word, the same in condition, Event and metric, and a sentence for people. */
const said = { reason: z.string(), message: z.string() };

const imageFact = (...phase: [string, ...string[]]) =>
  z.object({ ...subject, revision: z.int().nonnegative(), url: z.string(), phase: z.literal(phase), ...said });

const machineFact = (phase: string) =>
  z.object({ ...subject, generation: z.int().nonnegative(), phase: z.literal(phase), ...said });

const { namespace: _none, ...ofNoNamespace } = subject;
const workspaceFact = (phase: string) =>
  z.object({ ...ofNoNamespace, generation: z.int().nonnegative(), phase: z.literal(phase), ...said });

/** What functions tell others of, by its type: facts that are done. A repeat has the same id; the objects stay the truth. */
export const facts = {
  'ot.pelotech.disk-image.queued.v1': imageFact('Queued'),
  'ot.pelotech.disk-image.syncing.v1': imageFact('Syncing'),
  'ot.pelotech.disk-image.retrying.v1': imageFact('Retrying'),
  'ot.pelotech.disk-image.succeeded.v1': imageFact('Succeeded'),
  'ot.pelotech.disk-image.failed.v1': imageFact('Failed'),
  /** Another revision is used, or the snapshot exists again: machines can be cloned from this revision, whatever the phase. */
  'ot.pelotech.disk-image.ready.v1': imageFact(...phases),
  /** An image is being deleted, or has lost the last workspace it was made for. Told again when anything of it changes. */
  'ot.pelotech.disk-image.prunable.v1': z.object({
    ...subject,
    revision: z.int().nonnegative(),
    url: z.string(),
    reason: z.string(),
  }),
  /** An image is gone with all that was made for it; the rule is why. */
  'ot.pelotech.disk-image.pruned.v1': z.object({
    ...subject,
    revision: z.int().nonnegative(),
    url: z.string(),
    rule: z.string(),
    reason: z.string(),
  }),
  'ot.pelotech.virtual-machine.ready.v1': machineFact('Ready'),
  'ot.pelotech.virtual-machine.failed.v1': machineFact('Failed'),
  'ot.pelotech.workspace.ready.v1': workspaceFact('Ready'),
  'ot.pelotech.workspace.failed.v1': workspaceFact('Failed'),
} as const;
