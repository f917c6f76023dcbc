import { expect, test } from 'vitest';
import { compileSchema } from '../../deploy/local/api-server/schema.ts';
import { readManifests } from '../../deploy/manifests.ts';
import type { Action } from '../../shared/actions.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { sshHostKeys } from '../../shared/kinds/core/secret.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { mostTogether, Workspace, type WorkspaceSpec } from '../../shared/kinds/pelotech/workspace.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { allowedSources, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { aSite } from '../../test/support/builders/roles.ts';
import { aMachineOf, aWorkspace } from '../../test/support/builders/workspaces.ts';
import { decide } from './decide.ts';
import { type Inside, nothingInside, type Observed } from './observed.ts';

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));
const most = 32;
const each = (total: number) => Math.floor(total / most);

const interfaces = (host: number) =>
  times(each(mostTogether.interfaces) / 2, (index) => ({
    network: index === 0 ? 'control-net' : `net-${index}`,
    ipAddress: `10.${index}.0.${host}/16`,
  }));
/** Small parts, of which a limit in characters allows the most. */
const variables = (size: number) => ({
  list: times((size - '{"list":[]}'.length) / '{"a":0},'.length, () => ({ a: 0 })),
});
const roles = (count: number, size: number) =>
  times(count, (index) => ({ role: `role-${index}`, variables: variables(size / count) }));

/** As much of everything as the schema admits. */
const largest: WorkspaceSpec = {
  networks: times(most, (index) => ({
    name: index === 0 ? 'control-net' : `net-${index}`,
    cidr: `10.${index}.0.0/16`,
    rangeGateway: `10.${index}.255.254`,
    nameservers: { addresses: times(8, (host) => `10.${index}.254.${host + 1}`) },
    routes: times(index < mostTogether.routes / most ? most : 0, (route) => ({
      destinationNetworkCidr: `172.16.${route}.0/24`,
      nextHopIpAddress: `10.${index}.253.${route + 1}`,
    })),
  })),
  volumes: times(64, (index) => ({ name: `volume-${index}`, size: '1Gi', localPath: `/${'x'.repeat(1023)}` })),
  vms: times(most, (index) =>
    aMachineOf({
      name: `vm-${index}`,
      interfaces: interfaces(index + 1),
      users: times(each(mostTogether.users), (user) => ({
        name: `user-${user}`,
        ssh_authorized_keys: ['x'.repeat(each(mostTogether.userText) / each(mostTogether.users) - 'user-0'.length)],
      })),
      ansible: { roles: { deploy: roles(each(mostTogether.roles), each(mostTogether.variables)) } },
    }),
  ),
  containerClusters: times(most, (index) => ({
    name: `app-${index}`,
    interfaces: interfaces(index + 101),
    containers: times(each(mostTogether.containers), (container) => ({
      name: `container-${container}`,
      image: 'example.org/app:1',
      volumeMounts: [{ name: `volume-${index}`, containerPath: '/data' }],
      portMappings: [{ containerPort: 8000 + container }],
      env: times(mostTogether.containerEntries / mostTogether.containers - 2, (variable) => ({
        name: `VARIABLE_${variable}`,
        value: 'x'.repeat(100),
      })),
    })),
  })),
};

const data = { allowedSources, ansibleRunnerImage: 'registry.test/runner:1', ansibleCredentials: 'true' };
const beginning: Observed = {
  nowMs: start,
  policy: parsePolicy({ data }),
  refusals: new Map(),
  workspace: aWorkspace({ spec: largest }),
  namespace: undefined,
  roleBinding: undefined,
  inside: undefined,
  outside: { isServed: true, vpc: undefined, subnets: [] },
  site: aSite(),
  images: new Map([['vmdi-farm/ubuntu', aVMDiskImage({ status: { phase: 'Succeeded' } })]]),
  imageNamespaces: new Map([['vmdi-farm', Namespace.parse({ metadata: { name: 'vmdi-farm' } })]]),
};

/** What other controllers say once all is well. */
const well: Readonly<Record<string, object>> = {
  VirtualMachine: { phase: 'Ready', observedGeneration: 1 },
  Subnet: { conditions: [{ type: 'Ready', status: 'True' }] },
};
const lists: Readonly<Record<string, keyof Inside>> = {
  NetworkPolicy: 'networkPolicies',
  NetworkAttachmentDefinition: 'definitions',
  PersistentVolumeClaim: 'claims',
  VirtualMachine: 'machines',
  Deployment: 'deployments',
  Service: 'services',
  Job: 'jobs',
  ConfigMap: 'configMaps',
};

/** What is found after these actions; all that they create is well. */
function after(before: Observed, actions: readonly Action[]): Observed {
  const found = { ...before };
  for (const action of actions) {
    if (action.do !== 'create') continue;
    const { resource, object } = action;
    const { name } = object.metadata;
    const metadata = { ...object.metadata, uid: `uid-${name}`, generation: 1, creationTimestamp: at(-3600) };
    const made = resource.parse({ status: well[resource.kind], ...object, metadata }) as never;
    const list = lists[resource.kind];
    const { inside = nothingInside } = found;
    if (resource === Namespace) found.namespace = made;
    else if (resource === RoleBinding) Object.assign(found, { roleBinding: made, inside: nothingInside });
    else if (resource === Vpc) found.outside = { ...found.outside, vpc: made };
    else if (resource === Subnet) found.outside = { ...found.outside, subnets: [...found.outside.subnets, made] };
    else if (list) found.inside = { ...inside, [list]: [...(inside[list] as []), made] };
    else Object.assign(found.site ?? {}, { [name === sshHostKeys ? 'hostKeys' : 'credentials']: made });
  }
  return found;
}

/** Milliseconds of CPU; the shortest of several, for the first ones are not compiled yet. */
const timeOf = (work: () => unknown) =>
  Math.min(
    ...times(3, () => {
      const from = process.threadCpuUsage();
      work();
      const { user, system } = process.threadCpuUsage(from);
      return (user + system) / 1000;
    }),
  );

/**
 * What a stage may take, as multiples of what it takes to write and read the object ten times as JSON: 100 ms of CPU where that takes
 * 40. The slowest takes about as long as that; at f49e520 it took seven times as long.
 */
const mostTimes = 2.5;

test('no stage of the largest workspace that the schema admits takes longer to decide than a multiple of a baseline', async () => {
  const crd = (await readManifests('crds')).find(({ metadata }) => metadata.name === 'workspaces.pelotech.ot');
  const { versions } = (crd as unknown as { spec: { versions: { schema: { openAPIV3Schema: unknown } }[] } }).spec;
  const { apiVersion, kind } = Workspace;
  const object = { apiVersion, kind, metadata: { name: 'lab' }, spec: largest };
  expect(compileSchema(versions[0]?.schema.openAPIV3Schema).validate(object)).toEqual([]);

  const took: number[] = [];
  let found = beginning;
  let actions = decide(found);
  while (actions.some((action) => action.do === 'create')) {
    took.push(timeOf(() => decide(found)));
    found = after(found, actions);
    actions = decide(found);
  }
  took.push(timeOf(() => decide(found)));
  const baseline = timeOf(() => times(10, () => JSON.parse(JSON.stringify(object))));
  console.log(
    `${JSON.stringify(largest).length} characters: ${took.map((one) => one.toFixed(0)).join(', ')} ms; baseline ${baseline.toFixed(0)} ms`,
  );
  expect(found.inside).toMatchObject({ machines: { length: 32 }, deployments: { length: 32 }, jobs: { length: 32 } });
  expect(Math.max(...took) / baseline).toBeLessThan(mostTimes);
});
