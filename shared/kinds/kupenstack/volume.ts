import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { celRules, conditions, filledText, int, observedGeneration, text, time } from '../schema.ts';
import { group, quantity } from './condition.ts';

/** The spec, with the names of KupenStack's design. */
export const VolumeSpec = z
  .object({
    size: quantity('size', 'Its size, rounded up to GiB; it can grow.', '1Mi'),
    source: z
      .object({
        image: filledText(
          2048,
          'What it is filled from: an image that OpenStack downloads (https://…), or an existing image, by name or id.',
        ),
      })
      .optional(),
  })
  .meta(
    celRules(
      [
        'has(self.source) == has(oldSelf.source) && (!has(self.source) || self.source.image == oldSelf.source.image)',
        'source: immutable; make another volume from another image',
      ],
      [
        'quantity(string(self.size)).compareTo(quantity(string(oldSelf.size))) >= 0',
        'size: expected no less than before, for a volume cannot shrink',
      ],
      [
        "!has(self.source) || !self.source.image.matches('^[a-z0-9+.-]+://') || self.source.image.matches('^https?://[^/?#@]+/')",
        'source.image: expected http:// or https:// without a user or password in it, or the name or id of an image',
      ],
    ),
  );

const volumePhases = [
  'Pending',
  'Downloading',
  'Creating',
  'Available',
  'InUse',
  'Failed',
  'Terminating',
  'Unknown',
] as const;
export type VolumePhase = (typeof volumePhases)[number];

/** What is so; written by provision-volume only. */
export const VolumeStatus = z.object({
  id: text(64, 'The volume in OpenStack.').optional(),
  filled: text(64, 'The volume in OpenStack that was available once: it is never created again.').optional(),
  phase: z.enum(volumePhases).optional().describe('The state of the volume, in one word.'),
  ready: z.boolean().optional().describe('A machine can have it, or has it.'),
  size: text(32, 'Its size as it is.').optional(),
  bootable: z.boolean().optional().describe('A machine can boot from it.'),
  server: text(64, 'The server that has it.').optional(),
  message: text(4096, 'The phase in a sentence.').optional(),
  conditions: conditions('CloudReady, DeletionHeld; Ready sums up.'),
  observedGeneration,
  attempts: int('Attempts to fill it that failed.').optional(),
  failed: text(64, 'The image or volume in OpenStack that failed last.').optional(),
  failure: z
    .object({ reason: z.string().max(128), message: z.string().max(1024) })
    .optional()
    .describe('Why the last attempt failed.'),
  nextAttemptAt: time('When another is made.').optional(),
  imageLeft: z.boolean().optional().describe('The image it was filled from could not be deleted yet.'),
});
export type VolumeStatus = z.infer<typeof VolumeStatus>;

/** A disk on OpenStack, empty or filled from an image. */
export const Volume = defineResource(
  { apiVersion: group, kind: 'Volume', plural: 'volumes' },
  { spec: VolumeSpec, status: VolumeStatus.optional().catch(undefined) },
);
export type Volume = ObjectOf<typeof Volume>;
