import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { cel, conditions, int, observedGeneration, text, time } from '../schema.ts';
import { group, quantity, remoteName } from './condition.ts';

/** The spec, with the fields, defaults and terms of KupenStack's design of this kind. */
export const KupenStackMachineSpec = z
  .object({
    running: z.boolean().default(true).describe('Running, or shut down.'),
    vcpu: z
      .number()
      .meta({ type: 'integer', format: 'int32', minimum: 1, maximum: 1_000_000, description: 'Virtual CPUs.' }),
    memory: quantity('memory', 'Memory; rounded up to MiB.', '1Mi'),
    swap: quantity('swap', 'Swap; rounded up to MiB.', '0').default('0').meta({ default: 0 }),
    publicKey: z
      .string()
      .min(1)
      .max(16_384)
      .optional()
      .describe('Public ssh key of the server; it is fixed once made.'),
    virtualNetworks: z
      .array(remoteName('A VirtualNetwork of the namespace, or else a network of its project.'))
      .max(32)
      .default([])
      .describe('The networks it is on, in the order of its interfaces.')
      .meta({ 'x-kubernetes-list-type': 'set' }),
    diskAttachments: z
      .array(z.object({ name: remoteName('A Volume of the namespace, or else a volume of its project.') }))
      .min(1)
      .max(26)
      .describe('Its disks; it boots from the first that is bootable.')
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
  })
  .meta(
    cel(
      'has(self.publicKey) == has(oldSelf.publicKey) && (!has(self.publicKey) || self.publicKey == oldSelf.publicKey)',
      'publicKey: immutable, for Nova puts it into a new server only; make another machine for another key',
    ),
  );

/** The state of a machine, in one word. */
export const serverPhases = [
  'Pending',
  'Creating',
  'Running',
  'Stopping',
  'Stopped',
  'Starting',
  'Restarting',
  'Resizing',
  'Failed',
  'Terminating',
  'Unknown',
] as const;
export type ServerPhase = (typeof serverPhases)[number];

/** What is so; written by provision-server only. */
export const KupenStackMachineStatus = z.object({
  id: text(64, 'The server in OpenStack.').optional(),
  phase: z.enum(serverPhases).optional().describe('The state of the machine, in one word.'),
  node: text(253, 'The host it runs on; OpenStack tells administrators only.').optional(),
  ip: text(4096, 'Networks with their addresses, in the order of the spec.').optional(),
  restartCount: int('How often it was started again.').default(0),
  message: text(4096, 'The phase in a sentence.').optional(),
  conditions: conditions('CloudReady, NetworksReady, VolumesReady, ServerReady; Ready sums them up.'),
  observedGeneration,
  countedAt: text(64, 'When the server had changed last as its restarts were counted.').optional(),
  formerRestarts: int('Restarts of the servers before this one.').optional(),
  failedSince: time('Since when the server is in ERROR, or its host down.').optional(),
  attempts: int('Boots that failed since one succeeded.').optional(),
  failed: text(64, 'The server whose boot failed last.').optional(),
  failure: text(1024, 'Why it failed, in Nova’s words.').optional(),
  nextAttemptAt: time('When another boot is tried.').optional(),
  readyAt: time('When it was Ready for the first time.').optional(),
});
export type KupenStackMachineStatus = z.infer<typeof KupenStackMachineStatus>;

/** A machine on OpenStack, booted from volumes. */
export const KupenStackMachine = defineResource(
  { apiVersion: group, kind: 'VirtualMachine', plural: 'virtualmachines' },
  {
    spec: KupenStackMachineSpec,
    // Garbage in a status is taken for none: the server is found by its tag.
    status: KupenStackMachineStatus.optional().catch(undefined),
  },
);
export type KupenStackMachine = ObjectOf<typeof KupenStackMachine>;
