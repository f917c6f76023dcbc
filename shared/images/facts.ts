import * as z from 'zod';
import type { Batch, Subscription } from '../function.ts';
import type { ObjectReference } from '../kinds/resource.ts';

/** The type of a fact that is published about images. */
export const diskImageFact = (fact: string) => `ot.pelotech.disk-image.${fact}.v1`;

/** The image that such a fact is about. */
const ImageFact = z.object({ namespace: z.string(), name: z.string() });

/** How a function of another system hears of images. */
export const imageFacts = (
  ...facts: readonly ('queued' | 'syncing' | 'retrying' | 'succeeded' | 'failed' | 'prunable' | 'pruned')[]
): Subscription[] => facts.map((fact) => ({ on: 'event', type: diskImageFact(fact), schema: ImageFact }));

/** The images that the facts of a batch are about, for a function with no other messages. */
export const imagesTold = ({ messages }: Batch): ObjectReference[] =>
  messages.map(({ data }) => data as z.infer<typeof ImageFact>);
