import * as z from 'zod';
import { diskQuantity } from './resources/pelotech/vm-disk-image.ts';

/** A pipeline published an image: it is to be downloaded, or downloaded anew. */
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
