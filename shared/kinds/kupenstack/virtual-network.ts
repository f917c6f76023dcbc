import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { cel, celRules, conditions, observedGeneration, text } from '../schema.ts';
import { group } from './condition.ts';

const address = (field: string, description: string) =>
  z
    .string()
    .max(45)
    .optional()
    .describe(description)
    .meta(cel('isIP(self)', `${field}: expected an address such as 10.10.120.1`));

/** The spec, with the names of KupenStack's kind. */
export const VirtualNetworkSpec = z
  .object({
    cidr: text(49, 'Its addresses; by default a free 10.x.y.0/24 of the project. It is fixed once made.')
      .meta(cel('isCIDR(self)', 'cidr: expected a network such as 10.10.120.0/24'))
      .optional(),
    gatewayIP: address('gatewayIP', 'The way out; by default the first address.'),
    allocationPools: z
      .array(
        z.object({
          startIP: address('startIP', 'The first address to give out; by default the first there is.'),
          endIP: address('endIP', 'The last; by default the last there is.'),
        }),
      )
      .max(32)
      .optional()
      .describe('What is given out; by default all but the gateway.'),
    disableDhcp: z.boolean().default(false).describe('Guests have their addresses otherwise.'),
    mtu: z
      .number()
      .optional()
      .meta({ type: 'integer', format: 'int32', minimum: 64, maximum: 65_535, description: 'Bytes of a packet.' }),
  })
  .meta(
    celRules(
      [
        'has(self.cidr) == has(oldSelf.cidr) && (!has(self.cidr) || self.cidr == oldSelf.cidr)',
        'cidr: immutable; make another network for other addresses',
      ],
      [
        '!has(self.cidr) || !isCIDR(self.cidr) || !has(self.gatewayIP) || !isIP(self.gatewayIP) || cidr(self.cidr).containsIP(self.gatewayIP)',
        'gatewayIP: expected an address in cidr',
      ],
    ),
  );

const networkPhases = ['Pending', 'Creating', 'Available', 'Failed', 'Terminating', 'Unknown'] as const;
export type NetworkPhase = (typeof networkPhases)[number];

/** What is so; written by provision-network only. */
export const VirtualNetworkStatus = z.object({
  id: text(64, 'The network in OpenStack.').optional(),
  subnetID: text(64, 'Its subnet.').optional(),
  phase: z.enum(networkPhases).optional().describe('The state of the network, in one word.'),
  ready: z.boolean().optional().describe('Machines can be put on it.'),
  cidr: text(49, 'Its addresses.').optional(),
  gatewayIP: text(45, 'The way out.').optional(),
  message: text(4096, 'The phase in a sentence.').optional(),
  conditions: conditions('CloudReady, DeletionHeld; Ready sums up.'),
  observedGeneration,
});
export type VirtualNetworkStatus = z.infer<typeof VirtualNetworkStatus>;

/** A network on OpenStack with its one subnet. */
export const VirtualNetwork = defineResource(
  { apiVersion: group, kind: 'VirtualNetwork', plural: 'virtualnetworks' },
  { spec: VirtualNetworkSpec, status: VirtualNetworkStatus.optional().catch(undefined) },
);
export type VirtualNetwork = ObjectOf<typeof VirtualNetwork>;
