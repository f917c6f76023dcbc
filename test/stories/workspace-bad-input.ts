import { expect } from 'vitest';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import { apply, ok } from './run-kubectl.ts';
import {
  aCluster,
  componentOf,
  deleteWorkspace,
  labNamespace,
  policyOf,
  untilWorkspace,
  workloadImage,
} from './workspaces.ts';
import { byName, type Story, withKubectl } from './world.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A workspace that is good for any cluster's schema but for these fields of its spec. */
const manifest = (spec: Fields, name = 'lab1') => ({
  apiVersion: Workspace.apiVersion,
  kind: Workspace.kind,
  metadata: { name },
  spec,
});

const vm = (changes: Fields) => ({
  vms: [{ name: 'vm', backingVMDiskImage: 'base', resources: { cpu: '1', memory: '1Gi' }, ...changes }],
});
const container = (changes: Fields) => ({
  containerClusters: [{ name: 'app', containers: [{ name: 'main', image: workloadImage, ...changes }] }],
});
const network = (changes: Fields) => ({ networks: [{ name: 'net', cidr: '10.10.0.0/24', ...changes }] });

/** This many that are alike; the schema compares no names. */
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);
const machines = (count: number, changes: Fields) => ({ vms: times(count, vm(changes).vms[0]) });
const clusters = (count: number, ...containers: Fields[]) => ({
  containerClusters: times(count, {
    name: 'app',
    containers: containers.map((one) => ({ name: 'main', image: 'a', ...one })),
  }),
});

const joined = { containerClusters: [{ ...container({}).containerClusters[0], interfaces: [{ network: 'net' }] }] };
const route = { destinationNetworkCidr: '10.20.0.0/16', nextHopIpAddress: '10.10.0.1' };

/** What the schema refuses: what is wrong with a spec, and what the answer says. */
const refused: readonly (readonly [string, Fields, string])[] = [
  ['no spec of a machine', { vms: [{}] }, 'spec.vms[0].name: Required value'],
  ['a machine without an image', vm({ backingVMDiskImage: undefined }), 'backingVMDiskImage: Required value'],
  [
    'a machine without resources',
    vm({ resources: undefined }),
    'resources: expected cpu and memory, or an instancetype, which has both',
  ],
  ['a name that no host can have', vm({ name: 'Demo_VM' }), 'spec.vms[0].name'],
  ['no core', vm({ resources: { cpu: '0.0', memory: '1Gi' } }), 'cpu: expected more than no core, such as "2"'],
  ['memory in bytes', vm({ resources: { cpu: '1', memory: '2' } }), 'memory: expected at least 1Mi, with its unit'],
  [
    'a port of a machine with interfaces',
    vm({ interfaces: [{ network: 'net' }], readiness: { tcp: 22 } }),
    'readiness: expected guestAgent on a machine with interfaces',
  ],
  ['a disk in bytes', vm({ diskSize: '18' }), 'diskSize: expected at least 1Mi, with its unit, such as 18Gi'],
  [
    'an address without the length of its network',
    vm({ interfaces: [{ network: 'net', ipAddress: '10.10.0.161' }] }),
    'ipAddress: expected an address with the length of its network, such as 10.10.0.161/24',
  ],
  ['an invalid network', network({ cidr: '10.10.0.0' }), 'cidr: expected a network such as 10.10.0.0/24'],
  [
    'a gateway with a length',
    network({ rangeGateway: '10.10.0.1/24' }),
    'rangeGateway: expected an address such as 10.10.0.1, without the length of its network',
  ],
  [
    'a route to nowhere',
    network({ routes: [{ destinationNetworkCidr: 'default', nextHopIpAddress: '10.10.0.1' }] }),
    'destinationNetworkCidr: expected a network such as 10.10.0.0/24',
  ],
  ['a volume in bytes', { volumes: [{ name: 'config', size: '1' }] }, 'size: expected at least 1Mi, with its unit'],
  ['no containers', { containerClusters: [{ name: 'app', containers: [] }] }, 'spec.containerClusters[0].containers'],
  ['an invalid port', container({ portMappings: [{ containerPort: 70000 }] }), 'containerPort'],
  ['an invalid protocol', container({ portMappings: [{ containerPort: 53, protocol: 'icmp' }] }), 'protocol'],
  [
    'more users than a lab has',
    machines(13, { users: times(20, { name: 'user' }) }),
    'vms: expected at most 256 users on all machines together',
  ],
  [
    'more keys than a lab has',
    machines(17, { users: [{ name: 'user', ssh_authorized_keys: ['x'.repeat(8000)] }] }),
    'vms: expected at most 131072 characters in the users of all machines together',
  ],
  [
    'more roles than a lab has',
    machines(9, { ansible: { roles: { build: times(58, { role: 'a' }), deploy: [] } } }),
    'vms: expected at most 512 roles of all machines together',
  ],
  [
    'more interfaces than a lab has',
    { ...machines(16, { interfaces: times(16, { network: 'net' }) }), ...joined },
    'interfaces: expected at most 256 on all machines and container clusters together',
  ],
  [
    'more routes than a lab has',
    { networks: times(9, network({ routes: times(29, route) }).networks[0]) },
    'networks: expected at most 256 routes in all of them together',
  ],
  [
    'more containers than a lab has',
    clusters(9, ...times(15, {})),
    'containerClusters: expected at most 128 containers in all of them together',
  ],
  [
    'more variables than a lab has',
    clusters(9, { env: times(114, { name: 'A' }) }),
    'containerClusters: expected at most 1024 environment variables, volume mounts, ports and capabilities in all containers together',
  ],
  [
    'larger variables than a lab has',
    clusters(1, { env: times(4, { name: 'A', value: 'x'.repeat(32_768) }) }),
    'containerClusters: expected at most 131072 characters in the images, environment variables and paths of all containers together',
  ],
  ['a path that leads nowhere', container({ volumeMounts: [{ name: 'x', containerPath: 'config' }] }), 'containerPath'],
];

/** Names that a Namespace could not be called after. */
const unfitNames = [
  ['x'.repeat(61), 'metadata.name: expected at most 60 characters'],
  ['lab.seven', 'metadata.name: expected no dot, for a Namespace is named after it'],
] as const;

/** The status of a write that has to be refused. Its words are not there to see: a lab may hold passwords (kubectl sees them). */
async function statusOf(write: Promise<unknown>): Promise<number> {
  try {
    await write;
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
  return 201;
}

export const stories: readonly Story[] = [
  ...byName<Story>({
    'what the schema of a workspace can refuse is answered 422, and is not there afterwards': {
      quick: true,
      smoke: true,
      run: async ({ kube }) => {
        for (const [what, spec] of refused) {
          const status = await statusOf(kube.create(Workspace, manifest(spec) as never));
          expect({ what, status }).toEqual({ what, status: 422 });
        }
        for (const [name] of unfitNames) {
          const status = await statusOf(kube.create(Workspace, manifest({}, name) as never));
          expect({ name, status }).toEqual({ name, status: 422 });
        }
        expect(await kube.list(Workspace)).toEqual([]);
      },
    },
    'an empty workspace is Ready, and a garbage status is written again': {
      policy: policyOf,
      run: async (world) => {
        const { kube } = world;
        await kube.create(Workspace, manifest({}) as never);
        const lab = await untilWorkspace(world, 'lab1', 'Ready');
        expect(lab.status?.ready).toBe('1/1');
        await kube.patch(
          Workspace,
          { name: 'lab1' },
          { status: { phase: null, components: null } },
          { subresource: 'status' },
        );
        const again = await untilWorkspace(world, 'lab1', 'Ready');
        expect(componentOf(again, 'Namespace', labNamespace)?.phase).toBe('Ready');
        await deleteWorkspace(world, 'lab1');
      },
    },
  }),
  ...withKubectl({
    "a workspace of one's own with kubectl: apply, get, wide, wait, describe, events, apply of a change, delete": {
      policy: policyOf,
      run: async (world) => {
        const { kubectl } = world;
        const spec = { containerClusters: [aCluster('app')] };
        expect(await ok(apply(kubectl, manifest(spec)))).toContain('workspace.pelotech.ot/lab1 created');
        await ok(kubectl('wait', '--for=condition=Ready', 'workspace/lab1', '--timeout=60s'));
        expect(await ok(kubectl('get', 'workspaces'))).toMatch(
          /^NAME\s+PHASE\s+REASON\s+READY\s+TERMINATING\s+AGE\s*\nlab1\s+Ready\s+Ready\s+2\/2\s+\d+/,
        );
        expect(await ok(kubectl('get', 'otws', '-o', 'wide'))).toMatch(
          /^NAME\s+PHASE\s+REASON\s+READY\s+TERMINATING\s+AGE\s+STARTS\s+EXPIRES\s+MESSAGE\s*\nlab1\s+Ready\s+Ready\s+2\/2\s+\S+\s+All components are ready/,
        );
        expect(await ok(kubectl('get', 'otws', '--field-selector', 'status.phase=Ready', '-o', 'name'))).toContain(
          'lab1',
        );
        expect(await ok(kubectl('describe', 'otws', 'lab1'))).toMatch(/Normal\s+Ready.*compose-workspace/);
        const one = { network: 'nowhere', ipAddress: '10.10.0.7/24' };
        const broken = { containerClusters: [aCluster('app', { interfaces: [one] })] };
        await ok(apply(kubectl, manifest(broken)));
        await ok(kubectl('wait', '--for=jsonpath={.status.phase}=Failed', 'workspace/lab1', '--timeout=60s'));
        expect(await ok(kubectl('get', 'otws', '-o', 'wide'))).toMatch(/lab1\s+Failed\s+SpecInvalid\s+2\/2\s.*nowhere/);
        expect(await ok(kubectl('events', '--for', 'otws/lab1'))).toMatch(/Warning\s+SpecInvalid/);
        await ok(apply(kubectl, manifest(spec)));
        await ok(kubectl('wait', '--for=condition=Ready', 'workspace/lab1', '--timeout=60s'));
        await ok(kubectl('delete', 'otws', 'lab1', '--timeout=60s'));
        expect(await ok(kubectl('get', 'namespaces', '-o', 'name'))).not.toContain(labNamespace);
      },
    },
    "the users' own manifest of a workspace applies as it stands, and says what it waits for": {
      smoke: true,
      run: async (world) => {
        const { kubectl } = world;
        expect(await ok(kubectl('apply', '-f', 'crds/examples/workspace.yaml'))).toContain('demo-workspace-1 created');
        const missing = 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}=ImageMissing';
        await ok(kubectl('wait', `--for=${missing}`, 'workspace/demo-workspace-1', '--timeout=60s'));
        const wide = await ok(kubectl('get', 'otws', '-o', 'wide'));
        expect(wide).toMatch(/Provisioning\s+ImageMissing\s+\d+\/13\s.*demo-vmdi/);
        await ok(kubectl('delete', 'otws', 'demo-workspace-1', '--timeout=60s'));
      },
    },
    'a lab that the schema refuses: kubectl says what was expected': async ({ kubectl }) => {
      for (const [what, spec, words] of refused) {
        const { code, err } = await apply(kubectl, manifest(spec));
        expect({ what, code: code === 0, err }).toEqual({ what, code: false, err: expect.stringContaining(words) });
      }
      for (const [name, words] of unfitNames) {
        const { code, err } = await apply(kubectl, manifest({}, name));
        expect({ name, code: code === 0, err }).toEqual({ name, code: false, err: expect.stringContaining(words) });
      }
    },
  }),
];
