import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { cel, celRules, conditions, filledText, int, observedGeneration, text, time } from '../schema.ts';
import { atLeast1Mi, diskQuantity, VMDiskImageSpec } from './vm-disk-image.ts';

/** Keeps a machine until its image says that the machine uses it no more. */
export const imageReferenceFinalizer = 'pelotech.ot/image-reference';

/** On everything made for a machine. */
export const machineUidLabel = 'pelotech.ot/virtual-machine-uid';

/** Who makes the networks that a machine is on, where that is not whom the policy names: its workspace has them from before. */
export const networkProviderAnnotation = 'pelotech.ot/network-provider';

/** On an image that was made for a machine: who asked first. */
export const requestedByLabel = 'pelotech.ot/requested-by';
export const requestedByNamespaceLabel = 'pelotech.ot/requested-by-namespace';

// The pattern is for the API server only: an object that was stored before it existed must still be readable.
const objectName = (description: string) =>
  z
    .string()
    .min(1)
    .max(253)
    .describe(description)
    .meta({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$' });

/** Cores, or thousandths of one. */
export const coresPattern = '^([1-9][0-9]*|[1-9][0-9]*m|0?\\.[0-9]+|[1-9][0-9]*\\.[0-9]+)$';
export const moreThanNoCore = cel(
  "isQuantity(self) && quantity(self).isGreaterThan(quantity('0'))",
  'cpu: expected more than no core, such as "2" or "500m"',
);

/** Of all interfaces of a machine together. */
export const mostRoutes = 64;

/** A login of the guest; of the three ways to give a password at most one. */
export const User = z
  .object({
    name: filledText(64, 'The login. A name that Linux refuses ("demo user") is made valid (demo-user).'),
    gecos: text(256, 'The full name; by default what `name` says.').optional(),
    plain_text_passwd: text(
      256,
      'The password. Everyone who may read the machine can read it: prefer passwordSecretRef or hashed_passwd.',
    ).optional(),
    hashed_passwd: text(256, 'The password as crypt(5) writes it: $6$…, $y$….').optional(),
    passwordSecretRef: z
      .object({
        name: objectName('The Secret, in the namespace of the machine, with the label pelotech.ot/use: password.'),
        key: z.string().min(1).max(253).default('password').describe('Its key.'),
      })
      .optional()
      .describe('Where the password is.'),
    lock_passwd: z.boolean().optional().describe('No login by password.'),
    sudo: text(256, 'A rule of sudoers.').optional(),
    groups: text(256, 'Groups, separated by commas.').optional(),
    shell: text(256, 'The login shell.').optional(),
    ssh_authorized_keys: z.array(z.string().max(8192)).max(20).optional().describe('Public keys.'),
  })
  .meta(
    cel(
      '[has(self.plain_text_passwd), has(self.hashed_passwd), has(self.passwordSecretRef)].filter(one, one).size() <= 1',
      'users: expected at most one of plain_text_passwd, hashed_passwd and passwordSecretRef',
    ),
  );
export type User = z.infer<typeof User>;

const textsOfUser = ['name', 'gecos', 'plain_text_passwd', 'hashed_passwd', 'sudo', 'groups', 'shell'];

/** Characters of all users of a machine together: a machine of a megabyte would fill the memory of whatever lists many. */
export const mostUserText = 16_384;

/** CEL: the characters of a list of users. */
export const textOfUsers = (list: string) =>
  `${list}.map(u, [${[
    ...textsOfUser.map((field) => `has(u.${field}) ? u.${field} : ''`),
    "has(u.passwordSecretRef) ? u.passwordSecretRef.name + u.passwordSecretRef.key : ''",
  ].join(
    ', ',
  )}].map(s, size(s)).sum() + (has(u.ssh_authorized_keys) ? u.ssh_authorized_keys.map(k, size(k)).sum() : 0)).sum()`;

/** The logins of a machine, at most that many. */
export const users = (most: number) =>
  z
    .array(User)
    .max(most)
    .optional()
    .describe('Logins, made by cloud-init at the first start.')
    .meta(
      cel(
        `${textOfUsers('self')} <= ${mostUserText}`,
        `users: expected at most ${mostUserText} characters in all of them together`,
      ),
    );

/** One network the machine is on. */
export const Interface = z
  .object({
    network: z
      .string()
      .min(1)
      .max(127)
      .regex(/^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/)
      .describe(
        "A NetworkAttachmentDefinition in the namespace of the machine, or <namespace>/<name> of one of the policy's machineNetworks.",
      ),
    ipAddress: text(
      49,
      'A fixed address with the length of its network, 10.10.0.161/24; without it the network gives one.',
    )
      .meta(
        celRules(
          ['isCIDR(self)', 'ipAddress: expected an address with the length of its network, such as 10.10.0.161/24'],
          [
            '!isCIDR(self) || (cidr(self).prefixLength() > 0 && !cidr(self).ip().isUnspecified() && !cidr(self).ip().isLoopback())',
            "ipAddress: expected a machine's address in a network, found one that no machine can have",
          ],
        ),
      )
      .optional(),
    gateway: text(45, 'The way out, on one interface at most, in the network of its ipAddress.')
      .meta(cel('isIP(self)', 'gateway: expected an address such as 10.10.0.1, without a prefix length'))
      .optional(),
    routes: z
      .array(
        z.object({
          to: text(49, 'Where the route leads, 172.26.0.0/15.').meta(
            cel('isCIDR(self)', 'routes: expected a network such as 172.26.0.0/15 in to'),
          ),
          via: text(45, 'The next hop.').meta(
            cel('isIP(self)', 'routes: expected an address such as 172.27.11.12 in via'),
          ),
          metric: int('Of several routes to the same place the one with the least counts.').optional(),
        }),
      )
      .max(32)
      .optional()
      .describe('Routes beside the gateway.'),
    nameservers: z
      .array(text(45, 'An address.').meta(cel('isIP(self)', 'nameservers: expected an address such as 4.29.163.7')))
      .max(8)
      .optional()
      .describe('Name servers; they may be on another network.'),
  })
  .meta(
    cel(
      '!has(self.gateway) || (has(self.ipAddress) && (!isCIDR(self.ipAddress) || !isIP(self.gateway) || cidr(self.ipAddress).containsIP(self.gateway)))',
      'gateway: expected an address in the network of the ipAddress beside it',
    ),
  );
export type Interface = z.infer<typeof Interface>;

/** How a guest is asked whether it is up. */
export const Readiness = z
  .object({
    guestAgent: z.boolean().optional().describe('The guest is up once its qemu-guest-agent answers.'),
    tcp: int('The guest is up once it takes connections at this port; not on a machine with interfaces.')
      .meta({ minimum: 1, maximum: 65535 })
      .optional(),
    timeout: z
      .string()
      .max(16)
      .default('10m')
      .describe(
        'How long the guest may take to answer, after a start and if it has stopped answering; then the machine is Failed.',
      )
      .meta({ pattern: '^([0-9]{1,2}h)?([0-9]{1,4}m)?([0-9]{1,5}s)?$', minLength: 2 }),
    failureThreshold: int(
      'After this many unanswered checks in a row, ten seconds apart, the guest no longer counts as up.',
    )
      .meta({ minimum: 1, maximum: 100 })
      .default(3),
    onFailure: z
      .enum(['Report', 'Restart'])
      .default('Report')
      .describe(
        'What is done about a guest that does not answer: its machine is not Ready (Report), or is also started again, once it has had its timeout (Restart).',
      ),
  })
  .meta(
    cel(
      '(has(self.guestAgent) && self.guestAgent) != has(self.tcp)',
      'readiness: expected either guestAgent: true or the port of tcp',
    ),
  );
export type Readiness = z.infer<typeof Readiness>;

/** What an image may need of the machine that boots it; the same for a machine and for one of a workspace. */
export const hardware = {
  preference: objectName(
    'A VirtualMachineClusterPreference of KubeVirt, such as windows.2k22: it sets what the fields beside it leave open.',
  ).optional(),
  instancetype: objectName(
    "A VirtualMachineClusterInstancetype of KubeVirt in place of cpu and memory; the policy's machineInstancetypes has to name it.",
  ).optional(),
  firmware: z
    .object({
      bootloader: z.enum(['bios', 'efi']).describe('What the disk is made for.'),
      secureBoot: z.boolean().optional().describe('Boot signed loaders only; with efi.'),
    })
    .optional()
    .describe("How the guest boots; by default the preference's way, else BIOS.")
    .meta(
      cel(
        "!has(self.secureBoot) || !self.secureBoot || self.bootloader == 'efi'",
        'firmware: expected bootloader efi with secureBoot',
      ),
    ),
  tpm: z
    .boolean()
    .optional()
    .describe(
      'Whether the guest has a TPM; by default as the preference says, else none. It forgets its keys when the machine stops.',
    ),
  diskBus: z
    .enum(['virtio', 'sata', 'scsi', 'usb'])
    .optional()
    .describe(
      "How the guest sees its disks; by default the preference's bus, else virtio. Windows without virtio drivers needs sata.",
    ),
  readiness: Readiness.optional().describe(
    'How the guest shows that it is up (condition GuestReady), which then counts for Ready. By default a machine is Ready once KubeVirt runs it.',
  ),
};

/** KubeVirt refuses a machine with a size beside its instancetype (pkg/instancetype/apply). */
export const sizeOnce = [
  {
    rule: 'has(self.instancetype) || (has(self.resources) && has(self.resources.cpu) && has(self.resources.memory))',
    message: 'resources: expected cpu and memory, or an instancetype, which has both',
  },
  {
    rule: '!has(self.instancetype) || !has(self.resources) || (!has(self.resources.cpu) && !has(self.resources.memory))',
    message: 'resources: expected neither cpu nor memory beside an instancetype, which has both',
  },
];

/** KubeVirt asks over the network of Pods (pkg/virt-api/webhooks/validating-webhook/admitters/vmi-create-admitter.go). */
export const tcpNeedsPodNetwork = {
  rule: '!has(self.readiness) || !has(self.readiness.tcp) || !has(self.interfaces) || size(self.interfaces) == 0',
  message: 'readiness: expected guestAgent on a machine with interfaces; tcp asks over the network of Pods',
};

/** What the user wants: a machine whose disk is cloned from a VMDiskImage. */
export const VirtualMachineSpec = z
  .object({
    name: filledText(253, 'The host name; by default the name of the object.').optional(),
    version: text(128, 'The version of the machine, a label of it.').optional(),
    baseVm: text(253, 'What the image was built from, a label of the machine.').optional(),
    baseVmVersion: text(128, 'Its version.').optional(),
    ignoreOnDeploy: z
      .boolean()
      .optional()
      .describe("What the policy's ignoreOnDeploy says is done with it; by default it is made and not started."),
    halted: z
      .boolean()
      .optional()
      .describe(
        'While it is true the machine is stopped; its disk stays. Afterwards it runs, or not, as it did before.',
      ),
    users: users(50),
    sshHostKeySecretRef: z
      .object({
        name: objectName('The Secret, in the namespace of the machine, with the label pelotech.ot/use: host-key.'),
        key: filledText(253, 'Its key.'),
      })
      .optional()
      .describe(
        'Where the host key of its ssh server is: an Ed25519 private key as ssh-keygen writes it. The guest gets no other. By default it makes its own.',
      ),
    resources: z
      .object({
        cpu: z
          .string()
          .max(16)
          .regex(new RegExp(coresPattern))
          .describe('CPU cores, such as "2"; a fraction ("500m") is one core with that share of its time.')
          .meta(moreThanNoCore)
          .optional(),
        memory: z
          .string()
          .max(32)
          .regex(new RegExp(diskQuantity))
          .describe('Memory of the guest, 2Gi.')
          .meta(atLeast1Mi('memory', '2Gi'))
          .optional(),
        diskSize: z
          .string()
          .max(32)
          .regex(new RegExp(diskQuantity))
          .optional()
          .describe("Size of the root disk; by default, and at least, the image's.")
          .meta(atLeast1Mi('diskSize', '24Gi')),
      })
      .optional()
      .describe('What the machine gets: cpu and memory, unless it has an instancetype.'),
    interfaces: z
      .array(Interface)
      .max(16)
      .optional()
      .describe('Networks; without any the machine is on the network of Pods.')
      .meta(
        cel(
          `self.map(i, has(i.routes) ? size(i.routes) : 0).sum() <= ${mostRoutes}`,
          `interfaces: expected at most ${mostRoutes} routes in all of them together`,
        ),
      ),
    ...hardware,
    vmDiskImageRef: z
      .object({
        name: z
          .string()
          .min(1)
          .max(200)
          .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/)
          .describe('The VMDiskImage.'),
        namespace: z
          .string()
          .min(1)
          .max(63)
          .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
          .describe('Its namespace.'),
      })
      .describe('The image that the root disk is cloned from.')
      .meta(cel('self == oldSelf', 'vmDiskImageRef: immutable; make another machine for another image')),
    vmDiskImageTemplate: VMDiskImageSpec.optional().describe(
      'The image to create if none of that name exists. An existing image takes precedence.',
    ),
    mode: z
      .enum(['CreateIfNotExist', 'FailIfNotExist'])
      .optional()
      .describe(
        'What a missing image means. By default CreateIfNotExist where there is a vmDiskImageTemplate; without one the machine waits.',
      ),
  })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: "!has(self.mode) || self.mode != 'CreateIfNotExist' || has(self.vmDiskImageTemplate)",
        message: 'vmDiskImageTemplate: expected with mode CreateIfNotExist, to make the image from where it is missing',
      },
      {
        rule: '!has(self.interfaces) || self.interfaces.all(one, self.interfaces.exists_one(other, other.network == one.network))',
        message: 'interfaces: expected each network once',
      },
      {
        // No iteration over the result of a filter: older API servers take that for endless.
        rule: "!has(self.interfaces) || self.interfaces.all(one, !has(one.ipAddress) || self.interfaces.exists_one(other, has(other.ipAddress) && other.ipAddress.find('^[^/]*') == one.ipAddress.find('^[^/]*')))",
        message: 'interfaces: expected each ipAddress once',
      },
      {
        rule: '!has(self.interfaces) || self.interfaces.filter(one, has(one.gateway)).size() <= 1',
        message: 'interfaces: expected a gateway on one interface at most',
      },
      {
        rule: '!has(self.users) || self.users.all(one, self.users.exists_one(other, other.name == one.name))',
        message: 'users: expected each name once',
      },
      tcpNeedsPodNetwork,
      ...sizeOnce,
    ],
  });

export const machinePhases = ['Provisioning', 'Failed', 'Ready'] as const;
export type MachinePhase = (typeof machinePhases)[number];

/** Conditions of a machine; ImageResolved is ensure-vmdi's, the others are provision-vm's. */
export const machineConditions = [
  'ImageResolved',
  'ImageReady',
  'DiskReady',
  'MachineReady',
  'GuestReady',
  'RestartRequired',
  'Ready',
] as const;
export type MachineCondition = (typeof machineConditions)[number];

/** Reasons of `trouble` that are steps that every machine takes, not errors. */
export const machineSteps: readonly string[] = [
  'Cloning',
  'Starting',
  'GuestStarting',
  'Stopping',
  'MachineTerminating',
];

/** What is so; written by the functions only. */
export const VirtualMachineStatus = z.object({
  phase: z.enum(machinePhases).optional().describe('The state of the machine, in one word.'),
  message: text(4096, 'The phase in a sentence.').optional(),
  conditions: conditions(
    'ImageResolved, ImageReady, DiskReady, MachineReady, GuestReady if asked for, RestartRequired; Ready sums them up.',
  ),
  observedGeneration,
  rootDisk: z
    .object({
      name: z.string().max(253),
      image: text(64, 'The uid of the image it was cloned from.'),
      revision: int('The revision of the image it was cloned from.'),
      made: text(64, 'The uid of the DataVolume that was created for the machine.').optional(),
      cloned: text(
        64,
        'The uid of the DataVolume, once its clone was seen complete: from then on something may be on it.',
      ).optional(),
    })
    .optional()
    .describe('The DataVolume the machine starts from.'),
  ipAddress: text(64, 'The first address that KubeVirt reports.').optional(),
  addresses: z
    .array(
      z.object({
        network: z.string().max(127),
        ipAddress: z.string().max(64).optional(),
        mac: z.string().max(17).optional(),
      }),
    )
    .max(32)
    .optional()
    .describe(
      'The addresses on each network, as KubeVirt reports them. If the guest runs no agent, KubeVirt may know none.',
    ),
  fixedAddresses: z
    .array(z.object({ network: z.string().max(127), ipAddress: z.string().max(64) }))
    .max(32)
    .optional()
    .describe('The addresses that the machine was made with. No other machine on the same network gets one of them.'),
  nodeName: text(253, 'The node it runs on.').optional(),
  trouble: z
    .object({ reason: z.string().max(128), since: time('Since when.') })
    .optional()
    .describe('What keeps the machine from being Ready: an error, or a step. If it lasts, the machine is Failed.'),
  readyAt: time('When it was Ready for the first time.').optional(),
  lastPhaseTransitionTime: time('When the phase, or the reason of Failed, last changed.').optional(),
});
export type VirtualMachineStatus = z.infer<typeof VirtualMachineStatus>;

/** A machine of a lab; KubeVirt runs it once the snapshot of its image exists. */
export const VirtualMachine = defineResource(
  { apiVersion: 'pelotech.ot/v1alpha1', kind: 'VirtualMachine', plural: 'virtualmachines', holdsPasswords: true },
  {
    spec: VirtualMachineSpec,
    // An invalid status counts as empty: it is written again.
    status: VirtualMachineStatus.optional().catch(undefined),
  },
);
export type VirtualMachine = ObjectOf<typeof VirtualMachine>;
