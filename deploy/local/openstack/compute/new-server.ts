import * as z from 'zod';

/** What metadata keys of servers may hold: no `/` (nova 26). */
const metadataKey = z
  .string()
  .regex(/^[a-zA-Z0-9-_:. ]{1,255}$/, 'expected a key of letters, digits, - _ : . and spaces');
/** What a server may be told to remember. */
const Metadata = z.record(metadataKey, z.string().max(255));

/** At most 50 of 60 characters, without `/` and `,`. */
const Tags = z
  .array(
    z
      .string()
      .min(1)
      .max(60)
      .regex(/^[^,/]*$/, "expected neither '/' nor ','"),
  )
  .max(50);

/** No spaces around it. */
const ServerName = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\S(?:.*\S)?$/s, 'expected a name without spaces around it');

const whole = z.coerce.number().int();
const BlockDevice = z.object({
  uuid: z.string().nullish(),
  source_type: z.enum(['volume', 'image', 'snapshot', 'blank']),
  destination_type: z.enum(['volume', 'local']).optional(),
  boot_index: whole.nullish(),
  volume_size: whole.optional(),
  delete_on_termination: z.boolean().default(false),
  device_name: z.string().nullish(),
  tag: z.string().nullish(),
});
/** A disk of a new server. */
export type BlockDevice = z.infer<typeof BlockDevice>;

const WantedNetwork = z.object({
  port: z.string().nullish(),
  uuid: z.string().optional(),
  fixed_ip: z.string().optional(),
  tag: z.string().optional(),
});
/** A network of a new server, or a port on one. */
export type WantedNetwork = z.infer<typeof WantedNetwork>;

/** The body of POST /servers, as much of it as a server that boots from volumes needs. */
export const NewServer = z.object({
  server: z.object({
    name: ServerName,
    flavorRef: z.coerce.string(),
    imageRef: z.string().nullish(),
    key_name: z.string().nullish(),
    description: z.string().nullish(),
    networks: z.union([z.literal(['auto', 'none']), z.array(WantedNetwork)]).optional(),
    metadata: Metadata.default({}),
    tags: Tags.default([]),
    block_device_mapping_v2: z.array(BlockDevice).default([]),
    user_data: z.string().nullish(),
    config_drive: z.unknown().optional(),
    availability_zone: z.string().nullish(),
  }),
});
export type NewServer = z.infer<typeof NewServer>['server'];
