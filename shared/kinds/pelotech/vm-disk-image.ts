import * as z from 'zod';
import { defineResource, type ObjectOf, type ObjectReference } from '../resource.ts';
import { cel, celRules, conditions, filledText, int, observedGeneration, text, time } from '../schema.ts';

/** Marks an image whose volumes and snapshots must be gone before it is. */
export const diskImageFinalizer = 'pelotech.ot/disk-image';

/** A new value asks for a new download: retry and refresh by people, with kubectl. */
export const syncRequested = 'pelotech.ot/sync-requested';

/** The command that asks for a new download, the same in messages, remedies and documents. */
export const requestDownload = ({ namespace, name }: ObjectReference) =>
  `kubectl annotate vmdi ${name} -n ${namespace} ${syncRequested}=$(date +%s) --overwrite`;

/** What a pipeline published last; another value asks for a new download. preload's own, so that it never meets a person's. */
export const publishedContent = 'pelotech.ot/published-content';

/** Names a VolumeSnapshot in the image's namespace to adopt instead of a download. */
export const adoptSnapshot = 'pelotech.ot/adopt-snapshot';

/** Names a kept revision. While the annotation is set, machines are cloned from that revision. */
export const useRevision = 'pelotech.ot/use-revision';

/** An admin's word that a deleted image goes though machines use it: their disks are clones. */
export const releaseHolds = 'pelotech.ot/release-holds';
/** With "true" on an image of an image namespace: it may download although the policy's egressBudget is spent. */
export const releasesBudget = 'pelotech.ot/ignore-budget';

/** The function that created an image because a template or a publication asked for it. An admin adopts the image by removing the label. */
export const createdBy = 'app.kubernetes.io/created-by';

/** On everything made for an image. */
export const managedBy = { 'app.kubernetes.io/managed-by': 'ot-functions' } as const;
export const imageUidLabel = 'pelotech.ot/disk-image-uid';
export const revisionLabel = 'pelotech.ot/revision';
export const attemptLabel = 'pelotech.ot/attempt';
/** On a DataVolume: the digest of the content that it downloads, as `status.contentDigest`. */
export const contentAnnotation = 'pelotech.ot/content-digest';

/** A Kubernetes quantity of bytes, as far as a disk needs it. */
export const diskQuantity = '^[1-9][0-9]*(\\.[0-9]+)?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?$';

/**
 * A size is at least what CDI takes; a user who writes "2" means gigabytes and gets bytes. The pattern, which clients read, refuses what is
 * no size; the rule says of that in words what is expected.
 */
export const atLeast1Mi = (field: string, example: string) =>
  cel(
    "isQuantity(self) && quantity(self).compareTo(quantity('1Mi')) >= 0",
    `${field}: expected at least 1Mi, with its unit, such as ${example}`,
  );

/** What the user wants; the rules are CDI's (DataVolume admission, S3 importer) said before a download is paid for. */
export const VMDiskImageSpec = z
  .object({
    name: text(253, 'The human name of the image.').optional(),
    url: filledText(2048, 'Where the image is. S3: path style, https://s3.<region>.amazonaws.com/<bucket>/<key>.'),
    sourceType: z.enum(['s3', 'http', 'registry']).default('s3').describe('What answers at the url.'),
    secretRef: filledText(253, 'The Secret with accessKeyId and secretKey, in the namespace of the image.').optional(),
    certConfigMap: filledText(253, 'A ConfigMap with the CA of the server, in the namespace of the image.').optional(),
    storageClass: filledText(253, 'The StorageClass of the volume the image is downloaded to.'),
    snapshotClass: filledText(253, 'The VolumeSnapshotClass of the snapshot machines are cloned from.'),
    diskSize: z
      .string()
      .regex(new RegExp(diskQuantity))
      .max(32)
      .describe('The size of the disk, at least the virtual size of the image.')
      .meta(atLeast1Mi('diskSize', '24Gi')),
    refresh: z
      .string()
      .max(64)
      .regex(/^(OnChange|([0-9*,/-]+ ){4}[0-9*,/-]+)$/)
      .optional()
      .describe(
        'When the source is looked at again: OnChange (every ten minutes), or a cron expression in UTC such as "0 4 * * *". If the object has changed, it is downloaded as the next revision.',
      ),
    checksum: z
      .string()
      .max(135)
      .regex(/^(md5:[0-9a-f]{32}|sha1:[0-9a-f]{40}|sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/)
      .optional()
      .describe('Expected checksum, algorithm:hex (http only).'),
  })
  .meta(
    celRules(
      [
        "!self.url.startsWith('s3://')",
        'url: expected a path-style https URL, found s3://; write https://s3.<region>.amazonaws.com/<bucket>/<key> (CDI refuses s3://)',
      ],
      [
        "self.sourceType != 's3' || !self.url.matches('^https?://[^/]+\\\\.s3[.-][^/]*amazonaws')",
        'url: expected path style, found a virtual-hosted S3 URL; write https://s3.<region>.amazonaws.com/<bucket>/<key> (CDI takes the first path segment for the bucket)',
      ],
      [
        "self.sourceType != 's3' || self.url.startsWith('s3://') || self.url.matches('^https?://[^/?#]+/[^/?#]+/[^?#]+')",
        'url: expected https://<host>/<bucket>/<key> for sourceType s3',
      ],
      [
        "self.sourceType != 'http' || self.url.startsWith('s3://') || self.url.matches('^https?://[^/?#]+')",
        'url: expected http:// or https:// for sourceType http',
      ],
      [
        "self.sourceType != 'registry' || self.url.matches('^(docker|oci-archive)://.+')",
        'url: expected docker:// or oci-archive:// for sourceType registry',
      ],
      [
        "!self.url.matches('[/]([.]|%2[eE]){1,2}([/?#]|$)') && !self.url.matches('[ \\t\\r\\n]')",
        'url: expected no "." or ".." path segments and no white space in it',
      ],
      [
        "!self.url.matches('^[a-z0-9+.-]+://[^/?#]*@')",
        'url: expected no user or password in it; put them into a Secret and name it in secretRef',
      ],
      [
        "self.sourceType != 's3' || has(self.secretRef)",
        'secretRef: expected for sourceType s3 (CDI reads no S3 object anonymously); for a public object use sourceType http',
      ],
      [
        "!has(self.checksum) || self.sourceType == 'http'",
        'checksum: expected only with sourceType http (CDI checks none elsewhere)',
      ],
    ),
  );

export const phases = ['Queued', 'Syncing', 'Snapshotting', 'Retrying', 'Succeeded', 'Failed'] as const;
export type Phase = (typeof phases)[number];

/** What is so; written by the functions only. */
export const VMDiskImageStatus = z.object({
  phase: z.enum(phases).optional().describe('The state of the image, in one word.'),
  message: text(4096, 'The phase in a sentence.').optional(),
  conditions: conditions(
    'Ready: a usable snapshot exists. Reconciling: more is to come. Stalled: it has failed, and only a change helps. SourceInspected: the source was looked at before it gets a slot. Stale: the source has changed since. SnapshotLost. RevisionPinned. DeletionHeld.',
  ),
  observedGeneration,
  revision: int('Counts the wanted contents of the image.').optional(),
  contentDigest: text(64, 'Digest of what the revision is to hold; another one makes a new revision.').optional(),
  syncRequested: z
    .string()
    .optional()
    .describe('The value of annotation pelotech.ot/sync-requested that the revision serves.'),
  queuedAt: time('Its place in the queue.').optional(),
  place: text(
    16,
    'About its place in the queue, from 1: 1, 2-5, 6-20, 21-100, or over 100. As of when it was queued, or of the last audit.',
  ).optional(),
  startsAbout: time(
    'When it may start, as of the last audit, rounded to ten minutes; absent if nothing tells.',
  ).optional(),
  source: z
    .object({
      bytes: int('The size of what would be downloaded.').optional(),
      format: text(32, 'What it is, by its content; "gz of qcow2" is qcow2 within gz.').optional(),
      virtualSize: int('The size of the disk in it, in bytes.').optional(),
      etag: z.string().max(256).optional(),
      content: text(
        64,
        'The same for all images of a namespace that have this content: one download serves them.',
      ).optional(),
      lastModified: time('When it was changed last.').optional(),
      lookedAt: time('When it was looked at last because of spec.refresh.').optional(),
      changed: z
        .object({ revision: int('The revision that has the content before the change.') })
        .optional()
        .describe('The object has changed since it was inspected for that revision.'),
      inspectedAt: time('When it was inspected.'),
      queuedAt: time('The place in the queue that it was inspected for.'),
    })
    .optional()
    .describe('The source as it was inspected last.'),
  sharedFrom: z
    .object({ image: z.string().max(253), snapshot: z.string().max(253) })
    .optional()
    .describe(
      'The image of the same content whose VolumeSnapshot this revision is cloned from in place of a download.',
    ),
  attempt: int('The number of the newest DataVolume of the revision.').optional(),
  attempts: int('Attempts of the revision that count against retryLimit.').optional(),
  egressBytes: int(
    'What all of its attempts have asked of their source: each the size as inspected, or that of the disk.',
  ).optional(),
  nextAttemptAt: time('When a Retrying image goes back to the queue.').optional(),
  startedAt: time('When the attempt got its slot.').optional(),
  snapshottingAt: time('When the download was done.').optional(),
  completedAt: time('When the revision came to its end.').optional(),
  progress: text(16, 'Share of the download, or N/A where CDI tells none.').optional(),
  progressAt: time('When the share last moved, or another importer was seen.').optional(),
  dataVolume: text(253, 'The DataVolume of the attempt, once it was seen.').optional(),
  importer: z
    .object({ uid: z.string().max(64), scratch: z.boolean() })
    .optional()
    .describe('The importer Pod that was seen at work; another one in its place is a second download.'),
  snapshot: z
    .object({
      name: z.string().max(253),
      restoreSize: z.string().max(32).optional(),
      revision: int('The revision it holds.'),
    })
    .optional()
    .describe(
      'The snapshot that machines are cloned from: of the newest revision that is ready, or of the pinned revision.',
    ),
  revisions: z
    .array(
      z.object({
        revision: int('The revision.'),
        snapshot: text(253, 'Its VolumeSnapshot.'),
        url: text(2048, 'What was downloaded, without a query.').optional(),
        completedAt: time('When it was ready.').optional(),
      }),
    )
    .max(20)
    .optional()
    .describe('The revisions that annotation pelotech.ot/use-revision may name, newest first.'),
  adoption: z
    .object({ snapshot: z.string().max(253), revision: int('The revision that it counts as.') })
    .optional()
    .describe(
      'The VolumeSnapshot that annotation pelotech.ot/adopt-snapshot named last, taken over in place of a download.',
    ),
  references: z
    .object({ count: int('How many.'), by: z.array(z.string().max(512)).max(20).optional() })
    .optional()
    .describe('Who uses the image.'),
  unreferencedSince: time('Since when the image is unused.').optional(),
  history: z
    .array(
      z.object({
        time: time('When.'),
        fact: z.string().max(64),
        revision: int('Of which revision.').optional(),
        reason: z.string().max(1024).optional(),
        message: z.string().max(4096),
        bytes: int('What the attempt that began asks of its source.').optional(),
      }),
    )
    .max(10)
    .optional()
    .describe('The last ten facts: when, what, why.'),
});
/** The status as read: another version of the functions may have written the phase. */
export type VMDiskImageStatus = Omit<z.infer<typeof VMDiskImageStatus>, 'phase'> & { phase?: string | undefined };

/** Each field is parsed on its own: an invalid field is dropped and does not affect the others. A phase is never dropped. */
const fields: readonly [string, z.ZodType][] = Object.entries(VMDiskImageStatus.shape);
const readStatus = z.object({
  ...Object.fromEntries(fields.map(([name, schema]) => [name, schema.catch(undefined)])),
  phase: z.coerce.string().optional(),
}) as unknown as z.ZodType<VMDiskImageStatus>;

/** An image of a machine's disk: downloaded once, through the queue, then a snapshot that machines are cloned from. */
export const VMDiskImage = defineResource(
  { apiVersion: 'pelotech.ot/v1alpha1', kind: 'VMDiskImage', plural: 'vmdiskimages' },
  {
    spec: VMDiskImageSpec,
    // A status that is no object is read as absent, and start-sync rebuilds it.
    status: readStatus.optional().catch(undefined),
  },
);
export type VMDiskImage = ObjectOf<typeof VMDiskImage>;

/** Every transition of a phase, and the one function that writes it. '' is an image without a status. */
export const transitions: readonly { from: Phase | ''; to: Phase; by: string; when: string }[] = [
  { from: '', to: 'Queued', by: 'start-sync', when: 'first sight' },
  { from: 'Queued', to: 'Syncing', by: 'start-sync', when: 'it is given a slot' },
  {
    from: 'Queued',
    to: 'Failed',
    by: 'start-sync',
    when: 'not allowed, class missing, the source can never work, attempts spent',
  },
  { from: 'Queued', to: 'Queued', by: 'start-sync', when: 'a new revision while it waits' },
  { from: 'Retrying', to: 'Queued', by: 'start-sync', when: 'nextAttemptAt, or a new revision' },
  { from: 'Syncing', to: 'Queued', by: 'start-sync', when: 'a new revision' },
  { from: 'Syncing', to: 'Failed', by: 'start-sync', when: 'the API server refused the DataVolume' },
  { from: 'Snapshotting', to: 'Queued', by: 'start-sync', when: 'a new revision, or no snapshot to adopt any more' },
  { from: 'Succeeded', to: 'Queued', by: 'start-sync', when: 'a new revision' },
  { from: 'Failed', to: 'Queued', by: 'start-sync', when: 'a new revision, or the cause of a refusal is gone' },
  { from: '', to: 'Snapshotting', by: 'start-sync', when: 'first sight, with a snapshot to adopt' },
  { from: 'Queued', to: 'Snapshotting', by: 'start-sync', when: 'a snapshot to adopt' },
  { from: 'Retrying', to: 'Snapshotting', by: 'start-sync', when: 'a snapshot to adopt' },
  { from: 'Syncing', to: 'Snapshotting', by: 'start-sync', when: 'a snapshot to adopt' },
  { from: 'Snapshotting', to: 'Snapshotting', by: 'start-sync', when: 'another snapshot to adopt, or another spec' },
  { from: 'Succeeded', to: 'Snapshotting', by: 'start-sync', when: 'a snapshot to adopt' },
  { from: 'Failed', to: 'Snapshotting', by: 'start-sync', when: 'a snapshot to adopt' },
  { from: 'Syncing', to: 'Snapshotting', by: 'follow-sync', when: 'downloaded and bound' },
  { from: 'Syncing', to: 'Retrying', by: 'follow-sync', when: 'the attempt failed, attempts are left' },
  { from: 'Syncing', to: 'Failed', by: 'follow-sync', when: 'attempts spent, or a final failure' },
  { from: 'Snapshotting', to: 'Succeeded', by: 'follow-sync', when: 'the snapshot is ready' },
  { from: 'Snapshotting', to: 'Failed', by: 'follow-sync', when: 'snapshotTimeout, or the volume is lost' },
  {
    from: 'Failed',
    to: 'Snapshotting',
    by: 'follow-sync',
    when: 'the snapshot is usable after all, is created, or is requested again',
  },
  { from: 'Succeeded', to: 'Snapshotting', by: 'follow-sync', when: 'the snapshot is lost, but its volume exists' },
];

/** Another version of the functions wrote its phase, as during an upgrade. The meaning is unknown, so the image is left alone. */
export const isOfAnotherVersion = ({ status }: { status?: { phase?: string | undefined } | undefined }) =>
  Boolean(status?.phase) && !phases.some((known) => known === status?.phase);

/** An image in this phase has nothing more to do. */
export const isFinished = (phase: string | undefined) => phase === 'Succeeded' || phase === 'Failed';

/** Selects the images that still have something to do: neither Succeeded nor Failed. */
export const unfinished = 'status.phase!=Succeeded,status.phase!=Failed';

/** Selects the images that are Syncing or Snapshotting: at most the slots, and those that snapshot. */
export const underWay = `${unfinished},status.phase!=Queued,status.phase!=Retrying,status.phase!=`;

/** Selects the unused images. */
export const unreferenced = 'status.references.count=0';
