import * as z from 'zod';
import type { Batch, Subscription } from '../function.ts';
import { requestedByLabel } from '../kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../kinds/resource.ts';

/** The type of a fact that is published about images. */
export const diskImageFact = (fact: string) => `ot.pelotech.disk-image.${fact}.v1`;

/** The image that such a fact is about. */
const ImageFact = z.object({ namespace: z.string(), name: z.string() });

type Known = 'true' | 'false';

/** What a fact's attributes say of its image. It may be behind, so nothing may depend on it that no later event makes good. */
type Attributes = {
  /** Whether its references were ever counted. */
  counted: Known;
  /** Whether a machine or a workspace names it, as last counted; before that, whether one had it made. */
  named: Known;
};

export function factAttributes({ metadata, status }: VMDiskImage): Attributes {
  const count = status?.references?.count;
  const isNamed = count === undefined ? metadata.labels?.[requestedByLabel] !== undefined : count > 0;
  return { counted: `${count !== undefined}`, named: `${isNamed}` };
}

type Fact = 'queued' | 'syncing' | 'retrying' | 'succeeded' | 'ready' | 'failed' | 'unsettled' | 'prunable' | 'pruned';

/** How a function of another system hears of images: of all, or of those with these attributes. */
export const imageFacts = (facts: readonly Fact[], attributes?: Partial<Attributes>): Subscription[] =>
  facts.map((fact) => ({
    on: 'event',
    type: diskImageFact(fact),
    schema: ImageFact,
    ...(attributes ? { attributes } : {}),
  }));

/** The images that the facts of a batch are about, for a function with no other messages. */
export const imagesOfFacts = ({ messages }: Batch): ObjectReference[] =>
  messages.map(({ data }) => data as z.infer<typeof ImageFact>);
