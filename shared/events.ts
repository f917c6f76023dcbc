import * as z from 'zod';
import { diskQuantity, phases } from './kinds/pelotech/vm-disk-image.ts';

/** What a pipeline sends. */
export const imagePublished = 'ot.pelotech.image.published.v1';

/**
 * What a pipeline says of an image. Namespace, Secret and classes are the policy's business, so that a sender can name
 * no Secret; `namespace` may choose among the policy's imageNamespaces.
 */
export const ImagePublished = z
  .strictObject({
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
  })
  .describe('A pipeline published an image: download it, or download it again.');
export type ImagePublished = z.infer<typeof ImagePublished>;

const subject = {
  namespace: z.string().describe('namespace of the object'),
  name: z.string().describe('name of the object'),
  uid: z.string().describe('UID of the object: another one is another object of that name'),
  time: z.string().meta({ format: 'date-time', description: 'since when it is so' }),
};

const reason = z.string().describe('one word, the same in condition, Event and metric');
const said = { reason, message: z.string().describe('a sentence for people') };
const phaseOf = (...phase: [string, ...string[]]) => z.literal(phase).describe('`status.phase` of the object');
const generation = z.int().nonnegative().describe('`metadata.generation` of the object');
const ofImage = {
  ...subject,
  revision: z.int().nonnegative().describe('`status.revision` of the image'),
  url: z.string().describe('source of the image'),
};

const imageFact = (...phase: [string, ...string[]]) => z.object({ ...ofImage, phase: phaseOf(...phase), ...said });

const machineFact = (phase: string) => z.object({ ...subject, generation, phase: phaseOf(phase), ...said });

const { namespace: _none, ...ofNoNamespace } = subject;
const workspaceFact = (phase: string) => z.object({ ...ofNoNamespace, generation, phase: phaseOf(phase), ...said });
const workspaceWarning = z.object({
  ...ofNoNamespace,
  generation,
  at: z.string().meta({ format: 'date-time', description: 'when it will be so' }),
  ...said,
});

/** What functions tell others of, by its type: facts that are done. A repeat has the same id; the objects stay the truth. */
export const facts = {
  'ot.pelotech.disk-image.queued.v1': imageFact('Queued').describe('A download is wanted and waits for a slot.'),
  'ot.pelotech.disk-image.syncing.v1': imageFact('Syncing').describe('An attempt to download has begun.'),
  'ot.pelotech.disk-image.retrying.v1': imageFact('Retrying').describe('An attempt failed; the next follows a pause.'),
  'ot.pelotech.disk-image.succeeded.v1': imageFact('Succeeded').describe(
    'The newest revision is a usable snapshot: machines can be cloned from it.',
  ),
  'ot.pelotech.disk-image.failed.v1': imageFact('Failed').describe(
    'An image has failed and is not downloaded again until something changes: `message` says what.',
  ),
  'ot.pelotech.disk-image.ready.v1': imageFact(...phases).describe(
    'Another revision is used, or its snapshot exists again: machines can be cloned from this revision without a download, whatever the phase.',
  ),
  'ot.pelotech.disk-image.unsettled.v1': z
    .object(ofImage)
    .describe(
      'An image changed that is not on its plain way from the queue to its first snapshot, so that its attempts and snapshots may need something. Published again at each change.',
    ),
  'ot.pelotech.disk-image.prunable.v1': z
    .object({ ...ofImage, reason })
    .describe(
      'An image is being deleted, or has lost the last workspace it was made for. Published again when anything of it changes.',
    ),
  'ot.pelotech.disk-image.pruned.v1': z
    .object({ ...ofImage, rule: z.string().describe('why it was deleted'), reason })
    .describe('An image is gone with all that was made for it.'),
  'ot.pelotech.virtual-machine.ready.v1': machineFact('Ready').describe('A machine runs.'),
  'ot.pelotech.virtual-machine.failed.v1': machineFact('Failed').describe(
    'A machine has failed: `message` says why. It may recover.',
  ),
  'ot.pelotech.workspace.ready.v1': workspaceFact('Ready').describe('All components of a workspace are ready.'),
  'ot.pelotech.workspace.failed.v1': workspaceFact('Failed').describe(
    'A component of a workspace has failed: `message` says which and why. It may recover.',
  ),
  'ot.pelotech.workspace.late.v1': workspaceWarning.describe(
    'The images of a workspace are not expected before its start (`at`): `message` says why.',
  ),
  'ot.pelotech.workspace.hibernating.v1': workspaceWarning.describe(
    'The machines and containers of a workspace are stopped within the hour.',
  ),
  'ot.pelotech.workspace.expiring.v1': workspaceWarning.describe(
    'A workspace is deleted within the hour, with everything in it.',
  ),
} as const;

/** Each type with the schema of its data: what functions tell, and what a pipeline sends. */
export const schemas = { ...facts, [imagePublished]: ImagePublished };

/** What names the JSON Schema of the data of such events: its `$id`, and the `dataschema` of each event. It is no address. */
export const schemaIdOf = (type: string) => `urn:ot-functions:${type}`;
