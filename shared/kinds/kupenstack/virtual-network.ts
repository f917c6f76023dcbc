import * as z from 'zod';
import { observedGeneration } from '../condition.ts';
import { defineResource, type ObjectOf } from '../resource.ts';
import { conditions, group } from './condition.ts';

const address = (field: string, description: string) =>
  z
    .string()
    .max(45)
    .optional()
    .describe(description)
    .meta({
      'x-kubernetes-validations': [
        { rule: 'isIP(self)', message: `${field}: expected an address such as 10.10.120.1` },
      ],
    });

/** The spec, with the names of KupenStack's kind. */
export const VirtualNetworkSpec = z
  .object({
    cidr: z
      .string()
      .max(49)
      .optional()
      .describe('Its addresses; by default a free 10.x.y.0/24 of the project. It is fixed once made.')
      .meta({
        'x-kubernetes-validations': [
          { rule: 'isCIDR(self)', message: 'cidr: expected a network such as 10.10.120.0/24' },
        ],
      }),
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
  .meta({
    'x-kubernetes-validations': [
      {
        rule: 'has(self.cidr) == has(oldSelf.cidr) && (!has(self.cidr) || self.cidr == oldSelf.cidr)',
        message: 'cidr: immutable; make another network for other addresses',
      },
      {
        rule: '!has(self.cidr) || !isCIDR(self.cidr) || !has(self.gatewayIP) || !isIP(self.gatewayIP) || cidr(self.cidr).containsIP(self.gatewayIP)',
        message: 'gatewayIP: expected an address in cidr',
      },
    ],
  });

const networkPhases = ['Pending', 'Creating', 'Available', 'Failed', 'Terminating', 'Unknown'] as const;
export type NetworkPhase = (typeof networkPhases)[number];

/** What is so; written by provision-network only. */
export const VirtualNetworkStatus = z.object({
  id: z.string().max(64).optional().describe('The network in OpenStack.'),
  subnetID: z.string().max(64).optional().describe('Its subnet.'),
  phase: z.enum(networkPhases).optional().describe('The state of the network, in one word.'),
  ready: z.boolean().optional().describe('Machines can be put on it.'),
  cidr: z.string().max(49).optional().describe('Its addresses.'),
  gatewayIP: z.string().max(45).optional().describe('The way out.'),
  message: z.string().max(4096).optional().describe('The phase in a sentence.'),
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
