import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { cel, celRules, conditions, int, observedGeneration, text, time } from '../schema.ts';
import {
  coresPattern,
  hardware,
  moreThanNoCore,
  sizeOnce,
  tcpNeedsPodNetwork,
  textOfUsers,
  users,
} from './virtual-machine.ts';
import { atLeast1Mi, diskQuantity, VMDiskImageSpec } from './vm-disk-image.ts';

/** Keeps a workspace until everything made for it is gone. */
export const workspaceFinalizer = 'pelotech.ot/workspace';

/** On everything made for a workspace. */
export const workspaceUidLabel = 'pelotech.ot/workspace-uid';
export const workspaceLabel = 'pelotech.ot/workspace';

/** On an image that was made for a workspace: it is deleted when nothing uses it for the policy's workspaceImagesKeptFor, regardless of the policy for others. */
export const madeForWorkspaces = { 'pelotech.ot/made-for': 'workspaces' } as const;

/** With "true", a workspace hibernates until the annotation is removed. */
export const hibernation = 'pelotech.ot/hibernate';

/** Since when a user wants the workspace awake: `hibernateAfter` counts from then. */
export const awakeSince = 'pelotech.ot/awake-since';

/** A duration by which the end of the workspace is put off. */
export const extension = 'pelotech.ot/extend';

/** The command that wakes a workspace, the same in messages, remedies and documents. */
export const wakeCommand = (name: string) =>
  `kubectl annotate otws ${name} ${hibernation}- ${awakeSince}=$(date -u +%FT%TZ) --overwrite`;

/** The command that puts off the end of a workspace by this duration in all. */
export const extendCommand = (name: string, duration: string) =>
  `kubectl annotate otws ${name} ${extension}=${duration} --overwrite`;

// Patterns for the API server only: an object that was stored before they were there is to be read, and told all its faults.
const label = (description: string) =>
  z.string().max(63).describe(description).meta({ minLength: 1, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' });
const duration = (description: string) =>
  z.string().max(24).optional().describe(description).meta({ pattern: '^[1-9][0-9]{0,5}[smh]([0-9]{1,6}[smh]){0,2}$' });
const address = (field: string, description: string) =>
  z
    .string()
    .max(45)
    .describe(description)
    .meta(cel('isIP(self)', `${field}: expected an address such as 10.10.0.1, without the length of its network`));
const cidr = (field: string, description: string) =>
  z
    .string()
    .max(49)
    .describe(description)
    .meta(cel('isCIDR(self)', `${field}: expected a network such as 10.10.0.0/24`));
const size = (field: string, description: string, example: string) =>
  z
    .string()
    .max(32)
    .describe(description)
    .meta({ pattern: diskQuantity, ...atLeast1Mi(field, example) });
const cores = (description: string) =>
  z
    .string()
    .max(16)
    .describe(description)
    .meta({ pattern: coresPattern, ...moreThanNoCore });

/** One network that a machine or a container cluster is on. */
export const WorkspaceInterface = z.object({
  network: label('A network of this workspace.'),
  ipAddress: text(
    49,
    'A fixed address with the length of its network, 10.10.0.161/24; without it the network gives one.',
  )
    .meta(cel('isCIDR(self)', 'ipAddress: expected an address with the length of its network, such as 10.10.0.161/24'))
    .optional(),
});
export type WorkspaceInterface = z.infer<typeof WorkspaceInterface>;

/** One Ansible role with its variables, which are the role's own. */
const AnsibleRole = z.object({
  role: text(253, 'The name of the role.').meta({ minLength: 1 }),
  variables: z
    .looseObject({})
    .optional()
    .describe('Variables of the role.')
    .meta({ 'x-kubernetes-preserve-unknown-fields': true }),
});

export const WorkspaceMachine = z
  .object({
    name: label('The name of the machine, its host name by default.'),
    version: text(128, 'The version of the machine; {version} of imageUrlTemplate.').optional(),
    baseVm: text(253, 'What the image was built from, a label of the machine.').optional(),
    baseVmVersion: text(128, 'Its version.').optional(),
    ignoreOnDeploy: z
      .boolean()
      .optional()
      .describe(
        "If true, the policy's ignoreOnDeploy says whether it is skipped, created without being started, or started.",
      ),
    backingVMDiskImage: text(
      200,
      "The VMDiskImage its disk is cloned from, in one of the policy's imageNamespaces.",
    ).meta({ minLength: 1, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$' }),
    vmDiskImageTemplate: VMDiskImageSpec.optional().describe(
      "The image to create if none of that name exists; by default from the policy's image keys. An existing image takes precedence.",
    ),
    resources: z
      .object({
        cpu: cores('Cores, "2" or "500m".').optional(),
        memory: size('memory', 'Memory of the guest, 2Gi.', '2Gi').optional(),
      })
      .optional()
      .describe('What the machine gets: cpu and memory, unless it has an instancetype.'),
    diskSize: size('diskSize', "Size of the root disk; by default, and at least, the image's.", '18Gi').optional(),
    users: users(20),
    interfaces: z.array(WorkspaceInterface).max(16).optional().describe('Networks of this workspace it is on.'),
    ...hardware,
    ansible: z
      .object({
        roles: z
          .object({
            build: z.array(AnsibleRole).max(64).optional().describe('What the image holds already; recorded, not run.'),
            deploy: z.array(AnsibleRole).max(64).optional().describe('Run once the machine is Ready, in this order.'),
          })
          .optional(),
      })
      .optional()
      .describe('Ansible roles of the machine.'),
  })
  .meta({ 'x-kubernetes-validations': [tcpNeedsPodNetwork, ...sizeOnce] });
export type WorkspaceMachine = z.infer<typeof WorkspaceMachine>;

const capabilities = z.array(z.string().max(64)).max(64).optional();

export const WorkspaceContainer = z.object({
  name: label('The name of the container.'),
  image: text(1024, 'The image it runs.').meta({ minLength: 1 }),
  resources: z
    .object({ cpu: cores('Cores, "128m".'), memory: size('memory', 'Memory, 256Mi.', '256Mi') })
    .optional()
    .describe('What the container gets, and no more.'),
  capabilities: z
    .object({ add: capabilities, drop: capabilities })
    .optional()
    .describe('Capabilities of Linux, without CAP_.'),
  env: z
    .array(
      z.object({
        name: text(253, 'The name.').meta({ minLength: 1 }),
        value: text(32768, 'The value.').optional(),
      }),
    )
    .max(128)
    .optional()
    .describe('Environment variables.'),
  volumeMounts: z
    .array(
      z.object({
        name: label('A volume of this workspace.'),
        containerPath: text(1024, 'Where the container sees it.').meta({ pattern: '^/[^:]*$' }),
        readOnly: z.boolean().optional().describe('The container must not write to it.'),
      }),
    )
    .max(32)
    .optional()
    .describe('Volumes of this workspace.'),
  portMappings: z
    .array(
      z.object({
        containerPort: int('The port of the container.').meta({ minimum: 1, maximum: 65535 }),
        protocol: text(4, 'tcp (by default), udp or sctp.')
          .meta({ pattern: '^([tT][cC][pP]|[uU][dD][pP]|[sS][cC][tT][pP])$' })
          .optional(),
        hostPort: int("The port of the node, as far as the policy's hostPorts allows.")
          .meta({ minimum: 1, maximum: 65535 })
          .optional(),
      }),
    )
    .max(64)
    .optional()
    .describe('Ports of the container.'),
});
export type WorkspaceContainer = z.infer<typeof WorkspaceContainer>;

/** Containers that run together in one Pod. */
export const ContainerCluster = z.object({
  name: label('The name of the Deployment, and of its Service.'),
  ignoreOnDeploy: z
    .boolean()
    .optional()
    .describe(
      "If true, the policy's ignoreOnDeploy says whether it is skipped, created without being started, or started.",
    ),
  interfaces: z.array(WorkspaceInterface).max(16).optional().describe('Networks of this workspace it is on.'),
  containers: z.array(WorkspaceContainer).max(16).describe('Its containers.').meta({ minItems: 1 }),
});
export type ContainerCluster = z.infer<typeof ContainerCluster>;

/** A volume that container clusters mount. */
export const WorkspaceVolume = z.object({
  name: label('The name of the PersistentVolumeClaim.'),
  size: size('size', 'Its size; it may grow.', '1Gi'),
  localPath: text(1024, 'The path within the volume that is mounted.').optional(),
  storageClass: text(253, 'Its StorageClass; by default that of the cluster.').optional(),
});
export type WorkspaceVolume = z.infer<typeof WorkspaceVolume>;

/** An isolated network of the workspace; two workspaces may have equal ones. */
export const WorkspaceNetwork = z.object({
  name: label('The name of the NetworkAttachmentDefinition.'),
  cidr: cidr('cidr', 'The addresses of the network, 10.10.0.0/24.'),
  rangeGateway: address('rangeGateway', 'The address at which the platform answers; no member may have it.').optional(),
  routes: z
    .array(
      z.object({
        destinationNetworkCidr: cidr('destinationNetworkCidr', 'Where the route leads, 0.0.0.0/0.'),
        nextHopIpAddress: address('nextHopIpAddress', 'The next hop; that member itself does not get the route.'),
      }),
    )
    .max(32)
    .optional()
    .describe('Routes that each member of the network gets.'),
  nameservers: z
    .object({ addresses: z.array(address('nameservers', 'The address of a name server.')).max(8).optional() })
    .optional()
    .describe('Name servers of each member; they may be on another network.'),
});
export type WorkspaceNetwork = z.infer<typeof WorkspaceNetwork>;

/** The limits of all parts of a workspace together, so that it is decided in under 100 ms of CPU. Texts are counted in characters. */
export const mostTogether = {
  users: 256,
  userText: 131_072,
  roles: 512,
  /** As JSON; compose-workspace checks it, for no rule can read them. */
  variables: 131_072,
  interfaces: 256,
  routes: 256,
  containers: 128,
  /** Environment variables, volume mounts, ports and capabilities. */
  containerEntries: 1024,
  /** Images, names and values of environment variables, and paths of volume mounts. */
  containerText: 131_072,
} as const;

const count = (list: string) => `(has(${list}) ? size(${list}) : 0)`;
const sumOf = (list: string, one: string, amount: string) =>
  `(has(${list}) ? ${list}.map(${one}, ${amount}).sum() : 0)`;
const sumOfContainers = (amount: string) => `self.map(cluster, cluster.containers.map(c, ${amount}).sum()).sum()`;

/** What the user wants: a whole lab. */
export const WorkspaceSpec = z
  .object({
    vms: z
      .array(WorkspaceMachine)
      .max(32)
      .optional()
      .describe('Machines.')
      .meta(
        celRules(
          [
            `self.map(vm, ${count('vm.users')}).sum() <= ${mostTogether.users}`,
            `vms: expected at most ${mostTogether.users} users on all machines together`,
          ],
          [
            `self.map(vm, has(vm.users) ? ${textOfUsers('vm.users')} : 0).sum() <= ${mostTogether.userText}`,
            `vms: expected at most ${mostTogether.userText} characters in the users of all machines together`,
          ],
          [
            `self.map(vm, has(vm.ansible) && has(vm.ansible.roles) ? ${count('vm.ansible.roles.build')} + ${count('vm.ansible.roles.deploy')} : 0).sum() <= ${mostTogether.roles}`,
            `vms: expected at most ${mostTogether.roles} roles of all machines together`,
          ],
        ),
      ),
    containerClusters: z
      .array(ContainerCluster)
      .max(32)
      .optional()
      .describe('Containers.')
      .meta(
        celRules(
          [
            `self.map(cluster, size(cluster.containers)).sum() <= ${mostTogether.containers}`,
            `containerClusters: expected at most ${mostTogether.containers} containers in all of them together`,
          ],
          [
            `${sumOfContainers(
              `${['env', 'volumeMounts', 'portMappings'].map((list) => count(`c.${list}`)).join(' + ')} + (has(c.capabilities) ? ${count('c.capabilities.add')} + ${count('c.capabilities.drop')} : 0)`,
            )} <= ${mostTogether.containerEntries}`,
            `containerClusters: expected at most ${mostTogether.containerEntries} environment variables, volume mounts, ports and capabilities in all containers together`,
          ],
          [
            `${sumOfContainers(
              `size(c.image) + ${sumOf('c.env', 'e', 'size(e.name) + (has(e.value) ? size(e.value) : 0)')} + ${sumOf('c.volumeMounts', 'm', 'size(m.containerPath)')}`,
            )} <= ${mostTogether.containerText}`,
            `containerClusters: expected at most ${mostTogether.containerText} characters in the images, environment variables and paths of all containers together`,
          ],
        ),
      ),
    volumes: z.array(WorkspaceVolume).max(64).optional().describe('Volumes for containers.'),
    networks: z
      .array(WorkspaceNetwork)
      .max(32)
      .optional()
      .describe('Networks.')
      .meta(
        cel(
          `self.map(network, ${count('network.routes')}).sum() <= ${mostTogether.routes}`,
          `networks: expected at most ${mostTogether.routes} routes in all of them together`,
        ),
      ),
    schedule: z
      .object({
        startAt: time('When the lab is to be up. Its images are requested before, the rest is made then.').optional(),
        endAt: time('When the workspace is deleted with everything in it.').optional(),
      })
      .optional()
      .describe('When it begins and ends.')
      .meta(
        cel(
          '!has(self.startAt) || !has(self.endAt) || self.endAt > self.startAt',
          'schedule: expected endAt after startAt',
        ),
      ),
    expiresAfter: duration(
      'How long after its creation, or after schedule.startAt, the workspace is deleted with everything in it: 8h.',
    ),
    hibernateAfter: duration(
      'How long after it was Ready for the first time, or was woken, its machines and containers are stopped: 4h. Disks stay.',
    ),
  })
  .describe('A lab: machines, containers, volumes and networks.')
  .meta(
    cel(
      `${['vms', 'containerClusters'].map((list) => sumOf(`self.${list}`, 'one', count('one.interfaces'))).join(' + ')} <= ${mostTogether.interfaces}`,
      `interfaces: expected at most ${mostTogether.interfaces} on all machines and container clusters together`,
    ),
  );
export type WorkspaceSpec = z.infer<typeof WorkspaceSpec>;

export const workspacePhases = ['Scheduled', 'Provisioning', 'Failed', 'Ready', 'Hibernated'] as const;
export type WorkspacePhase = (typeof workspacePhases)[number];

/** What a workspace is made of, as its status lists it. */
const componentKinds = [
  'Namespace',
  'VMDiskImage',
  'Network',
  'Volume',
  'VirtualMachine',
  'ContainerCluster',
  'AnsibleRoles',
] as const;
export type ComponentKind = (typeof componentKinds)[number];

/** The state of a component: not begun, under way, Ready, Failed, left out by the policy, being deleted. */
export const componentPhases = ['Waiting', 'Provisioning', 'Ready', 'Failed', 'Skipped', 'Terminating'] as const;
export type ComponentPhase = (typeof componentPhases)[number];

/** One condition for each stage, in the order of the stages, then what is to come; Ready sums them up. */
const workspaceConditions = [
  'SpecValid',
  'NamespaceReady',
  'VMDiskImagesReady',
  'NetworksReady',
  'VolumesReady',
  'VirtualMachinesReady',
  'ContainersReady',
  'AnsibleDeployed',
  'AnsibleSkipped',
  'WillBeLate',
  'HibernatesSoon',
  'ExpiresSoon',
  'Ready',
] as const;
export type WorkspaceCondition = (typeof workspaceConditions)[number];

/** One component of a workspace and its status. */
export const Component = z.object({
  kind: z.enum(componentKinds),
  name: z.string().max(253),
  phase: z.enum(componentPhases),
  reason: z.string().max(128),
  message: z.string().max(1024),
});
export type Component = z.infer<typeof Component>;

/** What is so; written by the functions only. */
export const WorkspaceStatus = z.object({
  phase: z.enum(workspacePhases).optional().describe('The state of the workspace, in one word.'),
  message: text(4096, 'The phase in a sentence, the first cause before all others.').optional(),
  ready: text(16, 'Components that are Ready, of those that have to be: 5/7.').optional(),
  conditions: conditions('A condition for each stage; Ready sums them up.'),
  components: z.array(Component).max(256).optional().describe('Its components, each with its status.'),
  observedGeneration,
  namespace: text(63, 'The Namespace that everything is in.').optional(),
  networkProvider: text(32, 'The provider of its networks, which a later policy does not change.').optional(),
  images: z
    .array(z.object({ name: z.string().max(253), namespace: z.string().max(63) }))
    .max(32)
    .optional()
    .describe('The VMDiskImages it holds.'),
  hibernatesAt: time('When its machines and containers are stopped.').optional(),
  expiresAt: time('When it is deleted.').optional(),
  nextAt: time('When something comes due next: a warning, a start or an end.').optional(),
  readyAt: time('When it was Ready for the first time.').optional(),
  lastPhaseTransitionTime: time('When the phase, or the reason of Failed, last changed.').optional(),
});
export type WorkspaceStatus = z.infer<typeof WorkspaceStatus>;

/** Machines, containers, volumes and networks of a lab, as one object with one status. */
export const Workspace = defineResource(
  {
    apiVersion: 'pelotech.ot/v1alpha1',
    kind: 'Workspace',
    plural: 'workspaces',
    namespaced: false,
    holdsPasswords: true,
  },
  {
    spec: WorkspaceSpec,
    // An invalid status counts as empty: it is written again.
    status: WorkspaceStatus.optional().catch(undefined),
  },
);
export type Workspace = ObjectOf<typeof Workspace>;
