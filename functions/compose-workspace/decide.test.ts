import { describe, expect, test } from 'vitest';
import type { Action } from '../../shared/actions.ts';
import { Deployment } from '../../shared/kinds/apps/deployment.ts';
import { NetworkAttachmentDefinition } from '../../shared/kinds/cni/network-attachment-definition.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { Subnet } from '../../shared/kinds/kube-ovn/subnet.ts';
import { Vpc } from '../../shared/kinds/kube-ovn/vpc.ts';
import { NetworkPolicy } from '../../shared/kinds/networking/network-policy.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace, WorkspaceStatus } from '../../shared/kinds/pelotech/workspace.ts';
import { RoleBinding } from '../../shared/kinds/rbac/role-binding.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { refusalKey } from '../../shared/kubernetes/refusal.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { allowedSources, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { aSite } from '../../test/support/builders/roles.ts';
import { aClusterOf, aMachineOf, aWorkspace } from '../../test/support/builders/workspaces.ts';
import { decide } from './decide.ts';
import { type Inside, nothingInside, type Observed } from './observed.ts';

const lab = (spec: Workspace['spec'] = {}, status?: WorkspaceStatus) =>
  aWorkspace({ spec, ...(status ? { status } : {}) });
const owner = { apiVersion: 'pelotech.ot/v1alpha1', kind: 'Workspace', name: 'lab', uid: 'uid-lab', controller: true };

/** An object of the workspace, as it might be found. */
const ours = <T extends KubernetesObject>(
  resource: Resource<T>,
  name: string,
  fields: object = {},
  metadata: object = {},
) =>
  resource.parse({
    metadata: {
      name,
      ...(resource.namespaced ? { namespace: 'ws-lab' } : {}),
      uid: `uid-${name}`,
      resourceVersion: '5',
      creationTimestamp: at(-3600),
      ownerReferences: [owner],
      ...metadata,
    },
    ...fields,
  });

const ubuntu = aVMDiskImage({ status: { phase: 'Succeeded' } });

const empty: Observed = {
  nowMs: start,
  policy: parsePolicy({ data: {} }),
  refusals: new Map(),
  workspace: lab(),
  namespace: undefined,
  roleBinding: undefined,
  inside: undefined,
  outside: { isServed: true, vpc: undefined, subnets: [] },
  images: new Map(),
  imageNamespaces: new Map(),
};
/** An object as the function makes it, an hour later. */
const asMade = <T extends KubernetesObject>(resource: Resource<T>) => {
  const { metadata, ...fields } = madeOf(decide(empty), resource.kind) ?? { metadata: { name: '' } };
  return ours(resource, metadata.name, fields, metadata);
};

type Given = Partial<Omit<Observed, 'inside' | 'images'>> & {
  inside?: Partial<Inside>;
  data?: Record<string, string>;
  image?: typeof ubuntu | null;
};
const look = ({ inside, data = {}, image = ubuntu, ...more }: Given): Observed => ({
  nowMs: start,
  policy: parsePolicy({ data: { allowedSources, ...data } }),
  refusals: new Map(),
  workspace: lab(),
  namespace: asMade(Namespace),
  roleBinding: asMade(RoleBinding),
  inside: { ...nothingInside, ...inside },
  outside: { isServed: true, vpc: undefined, subnets: [] },
  images: new Map(image ? [['vmdi-farm/ubuntu', image]] : []),
  imageNamespaces: new Map([['vmdi-farm', Namespace.parse({ metadata: { name: 'vmdi-farm' } })]]),
  ...more,
});
const reconcile = (given: Given) => decide(look(given));

const statusIn = (actions: readonly Action[]) =>
  (actions.find((action) => action.do === 'patchStatus')?.status ?? {}) as WorkspaceStatus;
const conditionIn = (actions: readonly Action[], type: string) => conditionOf(statusIn(actions).conditions, type);
const componentIn = (actions: readonly Action[], name: string) =>
  statusIn(actions).components?.find((one) => one.name === name);
/** "create Deployment app" */
const writes = (actions: readonly Action[]) =>
  actions.flatMap((action) => {
    if (action.do === 'create' || action.do === 'replace')
      return [`${action.do} ${action.resource.kind} ${action.object.metadata.name}`];
    return action.do === 'delete' ? [`delete ${action.resource.kind} ${action.of.metadata.name}`] : [];
  });
function madeOf(actions: readonly Action[], kind: string) {
  return actions.flatMap((action) =>
    action.do === 'create' && action.resource.kind === kind ? [action.object] : [],
  )[0];
}

type PodSpec = Record<string, unknown> & { containers: readonly Record<string, unknown>[] };
interface Made {
  metadata: object;
  spec: { template: { spec: PodSpec } };
}

const net = { name: 'net', cidr: '10.0.0.0/24' };
const bridge = { networkProvider: 'bridge' };
const network = (name: string, text = '') => ours(NetworkAttachmentDefinition, name, { spec: { config: text } });

describe('the order', () => {
  test('namespace and right come first, and the rest is looked at in the same reconcile', () => {
    const open = decide(empty);
    expect(writes(open)).toEqual([
      'create Namespace ws-lab',
      'create RoleBinding sync-operator-compose-workspace-in-workspace',
    ]);
    expect(open.at(-1)).toMatchObject({ do: 'requeue' });
  });
  test('it is held, and labelled with its images, before anything is made', () => {
    const spec = { vms: [aMachineOf(), aMachineOf({ name: 'other', backingVMDiskImage: 'debian-12.5' })] };
    const workspace = aWorkspace({ spec, finalizers: ['example.org/own'], labels: { team: 'a' } });
    expect(reconcile({ workspace })[0]).toMatchObject({
      do: 'patchMetadata',
      metadata: {
        finalizers: ['example.org/own', 'pelotech.ot/workspace'],
        labels: { 'image.pelotech.ot/ubuntu': '', 'image.pelotech.ot/debian-12.5': '' },
      },
    });
  });
  test('its labels follow its images, before another image is made', () => {
    const labels = { team: 'a', 'image.pelotech.ot/debian': '' };
    const workspace = aWorkspace({ spec: { vms: [aMachineOf()] }, labels });
    const [first] = reconcile({ workspace, image: null });
    expect(first).toMatchObject({ do: 'patchMetadata' });
    expect(first).toHaveProperty('metadata', {
      labels: { 'image.pelotech.ot/ubuntu': '', 'image.pelotech.ot/debian': null },
    });
  });
  test.each([['i'.repeat(200)], ['Not A Name']])(
    'an image whose name is no label has a digest as its label: %s',
    (image) => {
      const workspace = aWorkspace({ spec: { vms: [aMachineOf({ backingVMDiskImage: image })] }, labels: {} });
      const [first] = reconcile({ workspace });
      const labels = first?.do === 'patchMetadata' ? first.metadata.labels : undefined;
      expect(Object.keys(labels ?? {})).toEqual([expect.stringMatching(/^image\.pelotech\.ot\/[0-9a-f]{32}$/)]);
    },
  );
  test('the NetworkPolicy is made before anything runs', () => {
    const spec = { containerClusters: [aClusterOf()] };
    expect(writes(reconcile({ workspace: lab(spec) }))).toEqual([
      'create NetworkPolicy ws-deny-all',
      'create Deployment app',
    ]);
  });
  test('the NetworkPolicy isolates every Pod except those of CDI, in both directions', () => {
    expect(madeOf(reconcile({}), 'NetworkPolicy')).toMatchObject({
      spec: {
        podSelector: {
          matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['containerized-data-importer'] }],
        },
        policyTypes: ['Ingress', 'Egress'],
        ingress: [],
        egress: [],
      },
    });
  });
  test.each<[string, Given['image'], string, string]>([
    ['is missing', null, 'ImageMissing', 'Waiting'],
    ['downloads', aVMDiskImage({ status: { phase: 'Syncing' } }), 'ImageSyncing', 'Provisioning'],
    ['failed', aVMDiskImage({ status: { phase: 'Failed', message: 'No.' } }), 'ImageFailed', 'Failed'],
    ['goes', aVMDiskImage({ deleted: true, status: { phase: 'Succeeded' } }), 'ImageTerminating', 'Provisioning'],
  ])('nothing is begun while an image %s', (_, image, reason, phase) => {
    const spec = {
      vms: [aMachineOf()],
      containerClusters: [aClusterOf()],
      volumes: [{ name: 'data', size: '1Gi' }],
      networks: [net],
    };
    const actions = reconcile({ workspace: lab(spec), image: image ?? null });
    expect(writes(actions)).toEqual(['create NetworkPolicy ws-deny-all']);
    expect(componentIn(actions, 'ubuntu')).toMatchObject({ reason, phase });
    expect(conditionIn(actions, 'VMDiskImagesReady')).toMatchObject({ status: 'False', reason });
    expect(componentIn(actions, 'app')).toMatchObject({ phase: 'Waiting', reason: 'ImagesNotReady' });
  });
  test('what was begun is kept as it should be while the image of another machine downloads', () => {
    const spec = { vms: [aMachineOf()], containerClusters: [aClusterOf()] };
    const inside = { claims: [ours(PersistentVolumeClaim, 'old')] };
    const actions = reconcile({ workspace: lab(spec), inside, image: aVMDiskImage({ status: { phase: 'Syncing' } }) });
    expect(writes(actions)).toContain('create Deployment app');
    expect(writes(actions)).not.toContain('create VirtualMachine vm');
  });
});

test.each<[VMDiskImageStatus, string]>([
  [{ phase: 'Syncing', message: 'Downloading, attempt 1.' }, 'Syncing in namespace vmdi-farm.'],
  [
    { phase: 'Retrying', message: 'EOF. Next attempt at 00:06 UTC.' },
    'Retrying in namespace vmdi-farm: EOF. Next attempt at 00:06 UTC.',
  ],
  [
    { phase: 'Failed', message: 'Not tried again: NoSuchKey.' },
    'Failed in namespace vmdi-farm: Not tried again: NoSuchKey.',
  ],
])('the workspace says what its image waits for, and names it once: %j', (status, cause) => {
  const actions = reconcile({ workspace: lab({ vms: [aMachineOf()] }), image: aVMDiskImage({ status }) });
  expect(statusIn(actions).message).toBe(`VMDiskImage ubuntu: ${cause}`);
});

describe('a missing image', () => {
  const data = {
    imageUrlTemplate: 'https://s3.eu-west-1.amazonaws.com/images/{name}/{version}.qcow2',
    imageStorageClass: 'gp3',
    imageSnapshotClass: 'ebs',
    imageSecretRef: 'reader',
  };
  const made = (given: Given) => madeOf(reconcile({ image: null, ...given }), 'VMDiskImage');

  test("is made of the policy's template, as large as the machine's disk where the policy does not say", () => {
    const workspace = lab({ vms: [aMachineOf({ version: '2.1', diskSize: '18Gi' })] });
    expect(made({ workspace, data })).toMatchObject({
      metadata: { name: 'ubuntu', namespace: 'vmdi-farm', labels: { 'pelotech.ot/made-for': 'workspaces' } },
      spec: {
        url: 'https://s3.eu-west-1.amazonaws.com/images/ubuntu/2.1.qcow2',
        sourceType: 's3',
        secretRef: 'reader',
        diskSize: '18Gi',
      },
    });
  });
  test("sends the policy's Secret to no registry", () => {
    const imageUrlTemplate = 'docker://registry.example.com/{name}:{version}';
    const workspace = lab({ vms: [aMachineOf({ version: '2.1', diskSize: '18Gi' })] });
    const image = made({ workspace, data: { ...data, imageUrlTemplate } });
    expect(image).toMatchObject({ spec: { sourceType: 'registry' } });
    expect(image).not.toHaveProperty('spec.secretRef');
  });
  test.each<[string, Partial<Parameters<typeof aMachineOf>[0]>, Record<string, string>, string]>([
    ['the policy has no template', { version: '1' }, {}, 'imageUrlTemplate, imageStorageClass'],
    ['it has no version', { diskSize: '1Gi' }, data, 'has no version'],
    ['no size is given', { version: '1' }, data, 'imageDiskSize'],
    ['a key does not parse', { version: '1' }, { ...data, imageDiskSize: 'large' }, 'imageDiskSize does not parse'],
  ])('stays missing where %s', (_, more, policy, said) => {
    const actions = reconcile({ image: null, workspace: lab({ vms: [aMachineOf(more)] }), data: policy });
    expect(writes(actions)).not.toContain('create VMDiskImage ubuntu');
    expect(conditionIn(actions, 'VMDiskImagesReady')).toMatchObject({ reason: 'ImageMissing' });
    expect(statusIn(actions).message).toContain(said);
  });
  test('that can neither be found nor made says so, and what to do, with its name once', () => {
    const actions = reconcile({ image: null, workspace: lab({ vms: [aMachineOf()] }), data: {} });
    expect(statusIn(actions).message).toBe(
      "VMDiskImage ubuntu: It exists in none of the policy's imageNamespaces, and cannot be made: there is no vmDiskImageTemplate, and the policy has no imageUrlTemplate, imageStorageClass, imageSnapshotClass, imageDiskSize. Create it, or add what is missing.",
    );
  });
  test("of another author's template counts only for a workspace that asks for the same content", () => {
    const image = {
      ...ubuntu,
      metadata: { ...ubuntu.metadata, labels: { 'app.kubernetes.io/created-by': 'ensure-vmdi' } },
    };
    const asking = (vmDiskImageTemplate: object) =>
      reconcile({
        image,
        workspace: lab({ vms: [aMachineOf({ vmDiskImageTemplate: { ...ubuntu.spec, ...vmDiskImageTemplate } })] }),
      });
    const other = asking({ url: 'https://images.example.com/other.img' });
    expect(conditionIn(other, 'VMDiskImagesReady')).toMatchObject({ status: 'False', reason: 'ImageNotAdopted' });
    expect(writes(other)).not.toContain('create VirtualMachine m');
    // The machine says what it asks for, and leaves it to the workspace to make it.
    expect(madeOf(asking({}), 'VirtualMachine')).toMatchObject({
      spec: { mode: 'FailIfNotExist', vmDiskImageTemplate: { url: ubuntu.spec.url } },
    });
  });
  test('is looked for where the workspace holds it, whatever namespaces the policy names now', () => {
    const workspace = lab({ vms: [aMachineOf()] }, { images: [{ name: 'ubuntu', namespace: 'vmdi-farm' }] });
    const machine = madeOf(reconcile({ workspace, data: { imageNamespaces: 'golden' } }), 'VirtualMachine');
    expect(machine).toMatchObject({ spec: { vmDiskImageRef: { name: 'ubuntu', namespace: 'vmdi-farm' } } });
  });
});

describe('a machine with deploy roles', () => {
  const ansible = { roles: { deploy: [{ role: 'router' }] } };
  const workspace = lab({ vms: [aMachineOf({ ansible })] });
  const data = { ansibleRunnerImage: 'runner:1', ansibleCredentials: 'true' };
  const made = madeOf(reconcile({ workspace, data, site: aSite() }), 'VirtualMachine') as VirtualMachine;
  const found = { machines: [ours(VirtualMachine, 'vm', { spec: made.spec }, made.metadata)] };

  test('lets the key of its workspace in from its first start', () => {
    expect(made.spec.users).toMatchObject([{ name: 'ansible', ssh_authorized_keys: [expect.any(String)] }]);
  });
  test('names its host key, which is made first', () => {
    expect(made.spec.sshHostKeySecretRef).toEqual({ name: 'ssh-host-keys', key: 'vm' });
    const order = writes(reconcile({ workspace, data, site: aSite() }));
    expect(order.filter((one) => /Secret|VirtualMachine/.test(one))).toEqual([
      'create Secret ssh-host-keys',
      'create VirtualMachine vm',
    ]);
    expect(madeOf(reconcile({ workspace, data, site: aSite() }), 'Secret')).toMatchObject({
      metadata: { labels: { 'pelotech.ot/use': 'host-key' } },
      data: { vm: expect.any(String) },
    });
  });
  test('waits for a host key that the API server refuses', () => {
    const refusals = new Map([
      [refusalKey(Secret, { namespace: 'ws-lab', name: 'ssh-host-keys' }), { reason: 'Forbidden', message: 'quota' }],
    ]);
    const actions = reconcile({ workspace, data, site: aSite(), refusals });
    expect(writes(actions)).not.toContain('create VirtualMachine vm');
    expect(componentIn(actions, 'vm')?.message).toContain('Secret ws-lab/ssh-host-keys was refused');
  });
  test('is not made without it, and says what to do', () => {
    const actions = reconcile({ workspace, data });
    expect(writes(actions)).not.toContain('create VirtualMachine vm');
    expect(componentIn(actions, 'vm')).toMatchObject({
      phase: 'Waiting',
      reason: 'CredentialsMissing',
      message: expect.stringContaining('kubectl create secret generic workspace-key'),
    });
  });
  test.each<[string, Record<string, string>]>([
    ["while the site's key is gone for a moment", data],
    ['while the policy does not parse', { ...data, ansibleCredentials: 'perhaps' }],
  ])('keeps it %s, and is repaired in the rest', (_, policy) => {
    expect(writes(reconcile({ workspace, data: policy, inside: found }))).not.toContain('replace VirtualMachine vm');
    const machines = found.machines.map((one) => ({ ...one, spec: { ...one.spec, name: 'edited' } }));
    const repair = reconcile({ workspace, data: policy, inside: { machines } }).find(
      (action) => action.do === 'replace' && action.resource.kind === 'VirtualMachine',
    );
    expect(repair).toMatchObject({
      object: { spec: { name: 'vm', users: made.spec.users, sshHostKeySecretRef: made.spec.sshHostKeySecretRef } },
    });
  });
});

describe('networks', () => {
  const workspace = lab({ networks: [net] });
  test('of kube-ovn are a router of its own, and a Subnet and a definition each', () => {
    const actions = reconcile({ workspace });
    expect(writes(actions).slice(1)).toEqual([
      'create Vpc ws-lab',
      expect.stringMatching(/^create Subnet ws-lab-net-[0-9a-f]{8}$/),
      'create NetworkAttachmentDefinition net',
    ]);
    expect(madeOf(actions, 'Subnet')).toMatchObject({
      spec: { vpc: 'ws-lab', cidrBlock: '10.0.0.0/24', gateway: '10.0.0.254', provider: 'net.ws-lab.ovn' },
    });
  });
  test('wait for their router, and not for one another once it exists', () => {
    const groupsOf = (actions: Action[]) =>
      new Set(actions.filter(({ do: verb }) => verb === 'create').map(({ group }) => group)).size;
    expect(groupsOf(reconcile({ workspace }).filter(({ group }) => group !== undefined))).toBe(1);
    const made = madeOf(reconcile({ workspace }), 'Vpc');
    const vpc = Vpc.parse({ ...made, metadata: { ...made?.metadata, uid: 'uid-vpc', resourceVersion: '1' } });
    const outside = { isServed: true, vpc, subnets: [] };
    expect(groupsOf(reconcile({ workspace, outside }).filter(({ group }) => group !== undefined))).toBe(2);
  });
  test('are not put on a router of another owner', () => {
    const vpc = Vpc.parse({ metadata: { name: 'ws-lab', uid: 'theirs' } });
    const actions = reconcile({ workspace, outside: { isServed: true, vpc, subnets: [] } });
    expect(writes(actions)).toEqual(['create NetworkPolicy ws-deny-all']);
    expect(componentIn(actions, 'net')).toMatchObject({ phase: 'Failed', reason: 'NameTaken' });
  });
  test('are looked at again as soon as they are defined, because no event reports it', () => {
    expect(reconcile({ workspace, data: bridge })).toContainEqual(expect.objectContaining({ do: 'requeue' }));
  });
  test('on bridges are a pair of definitions', () => {
    expect(writes(reconcile({ workspace, data: bridge })).slice(1)).toEqual([
      'create NetworkAttachmentDefinition net',
      'create NetworkAttachmentDefinition net-ip',
    ]);
  });
  const subnets = [ours(Subnet, 'ws-lab-net')];
  const config = '{"cniVersion":"0.3.1","type":"bridge"}';
  test.each<[string, Given, string]>([
    [
      'bridge, though there are Subnets',
      { data: bridge, outside: { isServed: true, vpc: undefined, subnets } },
      'kube-ovn',
    ],
    ['kube-ovn, though there are bridges', { inside: { definitions: [network('net', config)] } }, 'bridge'],
  ])(
    'stay with the provider that made them if the status is empty and the policy now says %s',
    (_, given, expected) => {
      expect(statusIn(reconcile({ workspace, ...given }))).toMatchObject({ networkProvider: expected });
    },
  );
  test('say who makes them as soon as one is made or there, and not before', () => {
    expect(statusIn(reconcile({ workspace }))).toMatchObject({ networkProvider: 'kube-ovn' });
    const outside = { isServed: true, vpc: ours(Vpc, 'ws-lab'), subnets: [] };
    const hasMultus = { hasMultus: false };
    expect(statusIn(reconcile({ workspace, outside, inside: hasMultus }))).toMatchObject({
      networkProvider: 'kube-ovn',
    });
    expect(statusIn(reconcile({ workspace, inside: hasMultus }))).not.toHaveProperty('networkProvider');
  });
  test('stay with who made them', () => {
    const begun = lab({ networks: [net] }, { networkProvider: 'kube-ovn' });
    expect(writes(reconcile({ workspace: begun, data: bridge }))).toContain('create Vpc ws-lab');
  });
  test.each([
    ['kube-ovn', { outside: { isServed: false, vpc: undefined, subnets: [] } }, 'KubeOvnMissing'],
    ['Multus', { inside: { hasMultus: false } }, 'MultusMissing'],
  ])('say so where %s is not installed', (_, given, reason) => {
    expect(componentIn(reconcile({ workspace, ...given }), 'net')).toMatchObject({ phase: 'Failed', reason });
  });
  test('that are no longer wanted stay while they have users, and are named', () => {
    const on = [{ name: 'net', namespace: 'ws-lab' }];
    const annotations = { 'k8s.v1.cni.cncf.io/networks': JSON.stringify(on) };
    const pod = Pod.parse({ metadata: { name: 'runs', annotations }, status: { phase: 'Running' } });
    const actions = reconcile({
      workspace: lab(),
      inside: { definitions: [network('net')], pods: [pod] },
      data: bridge,
    });
    expect(writes(actions)).not.toContain('delete NetworkAttachmentDefinition net');
    expect(conditionIn(actions, 'NetworksReady')).toMatchObject({ status: 'False', reason: 'NetworkInUse' });
    expect(conditionIn(actions, 'NetworksReady')?.message).toContain('net (Pod runs)');
    expect(writes(reconcile({ inside: { definitions: [network('net')] } }))).toContain(
      'delete NetworkAttachmentDefinition net',
    );
  });
  test('give the router only when no Subnet is on it any more', () => {
    const vpc = ours(Vpc, 'ws-lab');
    const subnet = ours(Subnet, 'ws-lab-old');
    const going = reconcile({ outside: { isServed: true, vpc, subnets: [subnet] } });
    expect(writes(going)).toContain('delete Subnet ws-lab-old');
    expect(writes(going)).not.toContain('delete Vpc ws-lab');
    expect(writes(reconcile({ outside: { isServed: true, vpc, subnets: [] } }))).toContain('delete Vpc ws-lab');
  });
});

describe('a machine', () => {
  const networks = [
    {
      ...net,
      routes: [{ destinationNetworkCidr: '0.0.0.0/0', nextHopIpAddress: '10.0.0.1' }],
      nameservers: { addresses: ['9.9.9.9'] },
    },
    {
      name: 'two',
      cidr: '10.0.1.0/24',
      routes: [
        { destinationNetworkCidr: '0.0.0.0/0', nextHopIpAddress: '10.0.1.1' },
        { destinationNetworkCidr: '172.16.0.0/12', nextHopIpAddress: '10.0.1.2' },
      ],
    },
  ];
  const onBridge = {
    inside: { definitions: ['net', 'net-ip', 'two', 'two-ip'].map((name) => network(name)) },
    data: bridge,
  };
  const interfacesOf = (addresses: [string, string]) => {
    const [one, two] = addresses;
    const interfaces = [
      { network: 'net', ipAddress: `${one}/24` },
      { network: 'two', ipAddress: `${two}/24` },
    ];
    const workspace = lab({ vms: [aMachineOf({ interfaces })], networks });
    // The definitions are not as wanted, and are mended in this reconcile; the machine waits for nothing.
    const made = madeOf(reconcile({ workspace, ...onBridge }), 'VirtualMachine') as
      | { spec?: { interfaces?: unknown } }
      | undefined;
    return made?.spec?.interfaces;
  };
  test('gets the routes and name servers of its networks, the first way to everything before the others', () => {
    expect(interfacesOf(['10.0.0.5', '10.0.1.5'])).toEqual([
      {
        network: 'net',
        ipAddress: '10.0.0.5/24',
        routes: [{ to: '0.0.0.0/0', via: '10.0.0.1', metric: 100 }],
        nameservers: ['9.9.9.9'],
      },
      {
        network: 'two',
        ipAddress: '10.0.1.5/24',
        routes: [
          { to: '0.0.0.0/0', via: '10.0.1.1', metric: 200 },
          { to: '172.16.0.0/12', via: '10.0.1.2' },
        ],
      },
    ]);
  });
  test('that is a router gets no route by way of itself', () => {
    expect(interfacesOf(['10.0.0.1', '10.0.1.2'])).toEqual([
      { network: 'net', ipAddress: '10.0.0.1/24', nameservers: ['9.9.9.9'] },
      { network: 'two', ipAddress: '10.0.1.2/24', routes: [{ to: '0.0.0.0/0', via: '10.0.1.1' }] },
    ]);
  });
  test('with another image stays as long as that is not there', () => {
    const spec = { resources: { cpu: '2', memory: '2Gi' }, vmDiskImageRef: { name: 'old', namespace: 'vmdi-farm' } };
    const machines = [ours(VirtualMachine, 'vm', { spec })];
    const actions = reconcile({ workspace: lab({ vms: [aMachineOf()] }), inside: { machines }, image: null });
    expect(writes(actions)).not.toContain('delete VirtualMachine vm');
    expect(componentIn(actions, 'vm')).toMatchObject({ phase: 'Waiting', reason: 'ImageNotReady' });
  });
  test.each([
    ['is deleted', aVMDiskImage({ deleted: true, status: { phase: 'Succeeded' } })],
    ['has failed', aVMDiskImage({ status: { phase: 'Failed' } })],
    ['is gone', null],
  ])('that has its disk does not mind that its image %s', (_, image) => {
    const spec = { resources: { cpu: '2', memory: '2Gi' }, vmDiskImageRef: { name: 'ubuntu', namespace: 'vmdi-farm' } };
    const status = {
      phase: 'Ready',
      rootDisk: { name: 'vm-root', image: 'uid-ubuntu', revision: 1, cloned: 'uid-volume' },
    };
    const machines = [ours(VirtualMachine, 'vm', { spec, status })];
    const actions = reconcile({ workspace: lab({ vms: [aMachineOf()] }), inside: { machines }, image });
    expect(componentIn(actions, 'ubuntu')).toMatchObject({ phase: 'Ready', reason: 'DiskCloned' });
  });
  test.each([
    ['Succeeded', 'Ready', 'TemplateMismatch', 'has another url'],
    ['Failed', 'Failed', 'ImageFailed', 'Its url is not that of vmDiskImageTemplate: delete it'],
  ] as const)(
    'whose template has another url than the existing image, %s: is reported',
    (status, phase, reason, words) => {
      const image = aVMDiskImage({ status: { phase: status } });
      const vmDiskImageTemplate = { ...image.spec, url: 'https://example.com/other.qcow2' };
      const actions = reconcile({ workspace: lab({ vms: [aMachineOf({ vmDiskImageTemplate })] }), image });
      expect(componentIn(actions, 'ubuntu')).toMatchObject({ phase, reason, message: expect.stringContaining(words) });
    },
  );
  test('with another image is recreated', () => {
    const spec = { resources: { cpu: '2', memory: '2Gi' }, vmDiskImageRef: { name: 'old', namespace: 'vmdi-farm' } };
    const machines = [ours(VirtualMachine, 'vm', { spec })];
    const actions = reconcile({ workspace: lab({ vms: [aMachineOf()] }), inside: { machines } });
    expect(writes(actions)).toContain('delete VirtualMachine vm');
    expect(actions).toContainEqual(
      expect.objectContaining({
        do: 'recordEvent',
        type: 'Warning',
        reason: 'ImageChanged',
        about: expect.objectContaining({ kind: 'Workspace' }),
        message:
          'VirtualMachine vm is recreated from VMDiskImage ubuntu instead of old, with a new disk: what its disk held is deleted.',
      }),
    );
  });
  test.each([
    ['Skip', [], 'Skipped'],
    ['Halt', ['create VirtualMachine vm'], 'Provisioning'],
    ['Start', ['create VirtualMachine vm'], 'Provisioning'],
  ])('to be ignored, under policy %s', (ignoreOnDeploy, made, phase) => {
    const workspace = lab({ vms: [aMachineOf({ ignoreOnDeploy: true })] });
    const actions = reconcile({ workspace, data: { ignoreOnDeploy } });
    expect(writes(actions).slice(1)).toEqual(made);
    expect(componentIn(actions, 'vm')?.phase).toBe(phase);
  });
});

describe('a container cluster', () => {
  test.each<[string, (spec: PodSpec) => object]>([
    ['hostNetwork', (spec) => ({ ...spec, hostNetwork: true })],
    ['hostPID', (spec) => ({ ...spec, hostPID: true })],
    ['hostIPC', (spec) => ({ ...spec, hostIPC: true })],
    ['initContainers', (spec) => ({ ...spec, initContainers: [{ name: 'theirs' }] })],
    ['allowPrivilegeEscalation', (spec) => ({ ...spec, containers: [{ ...spec.containers[0], securityContext: {} }] })],
    [
      'privileged',
      (spec) => ({ ...spec, containers: [{ ...spec.containers[0], securityContext: { privileged: true } }] }),
    ],
  ])('that a user lets out of its lab by %s is repaired, and only then', (_, edited) => {
    const workspace = lab({ containerClusters: [aClusterOf()] });
    const made = madeOf(reconcile({ workspace }), 'Deployment') as unknown as Made;
    const { hostNetwork: _1, hostPID: _2, hostIPC: _3, initContainers: _4, ...kept } = made.spec.template.spec;
    const found = (spec: object) => {
      const fields = { spec: { ...made.spec, template: { ...made.spec.template, spec } } };
      return { deployments: [ours(Deployment, 'app', fields, made.metadata)] };
    };
    const securityContext = { allowPrivilegeEscalation: false };
    const containers = kept.containers.map((container) => ({ ...container, securityContext }));
    const asKept = { ...kept, containers };
    expect(writes(reconcile({ workspace, inside: found(asKept) }))).not.toContain('replace Deployment app');
    expect(writes(reconcile({ workspace, inside: found(edited(asKept)) }))).toContain('replace Deployment app');
  });
  const templateOf = (given: Given) =>
    (
      madeOf(reconcile(given), 'Deployment') as unknown as {
        spec: {
          replicas: number;
          strategy: object;
          template: { metadata: { annotations: Record<string, string> }; spec: Record<string, unknown> };
        };
      }
    ).spec;

  test('is one Pod at a time, with what it asks for and no more', () => {
    const containers = [
      {
        name: 'app',
        image: 'example.org/app:1',
        resources: { cpu: '128m', memory: '256Mi' },
        capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
        env: [{ name: 'DEBUG', value: 'true' }],
        volumeMounts: [{ name: 'data', containerPath: '/config', readOnly: true }],
        portMappings: [{ containerPort: 53, protocol: 'udp', hostPort: 53 }],
      },
    ];
    const workspace = lab({
      containerClusters: [aClusterOf({ containers })],
      volumes: [{ name: 'data', size: '1Gi', localPath: '/here' }],
    });
    const spec = templateOf({ workspace, data: { hostPorts: '53/udp' } });
    expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(spec.template.spec).toMatchObject({
      automountServiceAccountToken: false,
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['127.0.0.1'] },
      containers: [
        {
          resources: { requests: { cpu: '128m' }, limits: { cpu: '128m' } },
          securityContext: { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } },
          env: [{ name: 'DEBUG', value: 'true' }],
          volumeMounts: [{ name: 'data', mountPath: '/config', readOnly: true, subPath: 'here' }],
          ports: [{ containerPort: 53, protocol: 'UDP', hostPort: 53 }],
        },
      ],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
    });
    const without = templateOf({ workspace, data: { hostPorts: '53/tcp' } }).template.spec;
    expect(JSON.stringify(without)).not.toContain('hostPort');
  });
  test('is on its networks with its addresses, and has one way to everything', () => {
    const networks = [
      {
        ...net,
        routes: [
          { destinationNetworkCidr: '0.0.0.0/0', nextHopIpAddress: '10.0.0.1' },
          { destinationNetworkCidr: '172.16.0.0/12', nextHopIpAddress: '10.0.0.2' },
        ],
      },
    ];
    const interfaces = [{ network: 'net', ipAddress: '10.0.0.7/24' }];
    const workspace = lab({ containerClusters: [aClusterOf({ interfaces })], networks });
    const subnet = ours(Subnet, 'ws-lab-net-x', { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    const first = madeOf(reconcile({ workspace }), 'Subnet')?.metadata.name ?? '';
    const outside = {
      isServed: true,
      vpc: ours(Vpc, 'ws-lab'),
      subnets: [{ ...subnet, metadata: { ...subnet.metadata, name: first } }],
    };
    const { annotations } = templateOf({ workspace, outside, inside: { definitions: [network('net')] } }).template
      .metadata;
    expect(JSON.parse(annotations['k8s.v1.cni.cncf.io/networks'] ?? '')).toEqual([
      { name: 'net', namespace: 'ws-lab', 'default-route': ['10.0.0.1'] },
    ]);
    expect(annotations['net.ws-lab.ovn.kubernetes.io/ip_address']).toBe('10.0.0.7');
    expect(JSON.parse(annotations['net.ws-lab.ovn.kubernetes.io/routes'] ?? '')).toEqual([
      { dst: '172.16.0.0/12', gw: '10.0.0.2' },
    ]);
  });

  const deployment = (status: object) => ours(Deployment, 'app', { status });
  const waits = (reason: string) =>
    Pod.parse({
      metadata: { name: 'app-1', labels: { 'pelotech.ot/container-cluster': 'app' } },
      status: {
        phase: 'Pending',
        containerStatuses: [{ name: 'app', state: { waiting: { reason, message: 'Back-off' } } }],
      },
    });
  const overdue = { conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] };
  test.each<[string, object, Pod[], string, string]>([
    ['not looked at', {}, [], 'Provisioning', 'Starting'],
    ['up', { replicas: 1, updatedReplicas: 1, availableReplicas: 1 }, [], 'Ready', 'Available'],
    ['in trouble', { replicas: 1 }, [waits('ImagePullBackOff')], 'Provisioning', 'ImagePullBackOff'],
    ['in trouble for long', { replicas: 1, ...overdue }, [waits('ImagePullBackOff')], 'Failed', 'ImagePullBackOff'],
    [
      'refused',
      { conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }] },
      [],
      'Provisioning',
      'FailedCreate',
    ],
  ])('that is %s', (_, status, pods, phase, reason) => {
    const workspace = lab({ containerClusters: [aClusterOf()] });
    const actions = reconcile({ workspace, inside: { deployments: [deployment(status)], pods } });
    expect(componentIn(actions, 'app')).toMatchObject({ phase, reason });
  });
});

describe('a volume', () => {
  const claim = (storage: string, phase: string) =>
    ours(PersistentVolumeClaim, 'data', { spec: { resources: { requests: { storage } } }, status: { phase } });
  const given = (size: string, found: PersistentVolumeClaim) => ({
    workspace: lab({ volumes: [{ name: 'data', size }] }),
    inside: { claims: [found] },
  });
  test('may grow, and never becomes smaller', () => {
    const grown = reconcile(given('2Gi', claim('1Gi', 'Bound')));
    expect(grown).toContainEqual(
      expect.objectContaining({
        do: 'replace',
        object: expect.objectContaining({ spec: { resources: { requests: { storage: '2Gi' } } } }),
      }),
    );
    expect(componentIn(reconcile(given('1Gi', claim('2Gi', 'Bound'))), 'data')).toMatchObject({
      reason: 'SizeNotApplied',
    });
  });
  test('whose claim belongs to another owner is not mounted', () => {
    const claims = [ours(PersistentVolumeClaim, 'data', { spec: {} }, { ownerReferences: [] })];
    const [container] = aClusterOf().containers;
    const mounting = { ...container, volumeMounts: [{ name: 'data', containerPath: '/data' }] };
    const workspace = lab({
      volumes: [{ name: 'data', size: '1Gi' }],
      containerClusters: [aClusterOf({ containers: [mounting as NonNullable<typeof container>] })],
    });
    const actions = reconcile({ workspace, inside: { claims } });
    expect(writes(actions)).not.toContain('create Deployment app');
    expect(componentIn(actions, 'app')).toMatchObject({ phase: 'Waiting', reason: 'VolumeTaken' });
  });
  test('is written once to be made, and not again', () => {
    const workspace = lab({ volumes: [{ name: 'data', size: '1Gi' }] });
    const { metadata, spec } = madeOf(reconcile({ workspace }), 'PersistentVolumeClaim') as PersistentVolumeClaim;
    const claims = [ours(PersistentVolumeClaim, 'data', { spec, status: { phase: 'Pending' } }, metadata)];
    expect(writes(reconcile({ workspace, inside: { claims } }))).not.toContain('replace PersistentVolumeClaim data');
  });
  test('keeps its class, which is reported', () => {
    const spec = { storageClassName: 'slow', resources: { requests: { storage: '1Gi' } } };
    const claims = [ours(PersistentVolumeClaim, 'data', { spec, status: { phase: 'Bound' } })];
    const workspace = lab({ volumes: [{ name: 'data', size: '1Gi', storageClass: 'fast' }] });
    const actions = reconcile({ workspace, inside: { claims } });
    expect(componentIn(actions, 'data')).toMatchObject({ phase: 'Ready', reason: 'StorageClassNotApplied' });
  });
  test('grows once it is bound: Kubernetes refuses it before', () => {
    const waiting = reconcile(given('2Gi', claim('1Gi', 'Pending')));
    expect(JSON.stringify(waiting.filter((action) => action.do === 'replace'))).not.toContain('2Gi');
    expect(componentIn(waiting, 'data')).toMatchObject({ phase: 'Ready', reason: 'GrowsWhenBound' });
  });
  test('that nothing mounts is well unbound', () => {
    expect(componentIn(reconcile(given('1Gi', claim('1Gi', 'Pending'))), 'data')).toMatchObject({
      phase: 'Ready',
      reason: 'Unused',
    });
  });
  test('that is lost has failed', () => {
    expect(componentIn(reconcile(given('1Gi', claim('1Gi', 'Lost'))), 'data')).toMatchObject({ phase: 'Failed' });
  });
});

test.each<[string, Workspace['spec'], string]>([
  ['ignoreOnDeploy', { vms: [aMachineOf({ ignoreOnDeploy: true })] }, 'vm'],
  ['networkProvider', { networks: [net] }, 'net'],
  [
    'hostPorts',
    {
      containerClusters: [
        aClusterOf({ containers: [{ name: 'app', image: 'a', portMappings: [{ containerPort: 53, hostPort: 53 }] }] }),
      ],
    },
    'app',
  ],
])('nothing that depends on %s is begun while it does not parse', (key, spec, name) => {
  const actions = reconcile({ workspace: lab(spec), data: { [key]: 'perhaps' } });
  expect(writes(actions)).toEqual(['create NetworkPolicy ws-deny-all']);
  expect(componentIn(actions, name)).toMatchObject({ phase: 'Waiting', reason: 'InvalidPolicy' });
});

describe('what the API server refuses', () => {
  const refusals = (reason: string) =>
    new Map([[refusalKey(Deployment, { namespace: 'ws-lab', name: 'app' }), { reason, message: 'no' }]]);
  const workspace = lab({ containerClusters: [aClusterOf(), aClusterOf({ name: 'other' })] });
  test('is reported, and blocks nothing else', () => {
    const actions = reconcile({ workspace, refusals: refusals('Invalid') });
    expect(writes(actions)).toContain('create Deployment other');
    expect(componentIn(actions, 'app')).toMatchObject({ phase: 'Failed', reason: 'Rejected' });
    expect(statusIn(actions)).toMatchObject({ phase: 'Failed' });
  });
  test('for a right that is new is asked for again', () => {
    const roleBinding = ours(RoleBinding, 'grant', {}, { creationTimestamp: at(-5) });
    const actions = reconcile({ workspace, roleBinding, refusals: refusals('Forbidden') });
    expect(componentIn(actions, 'app')).toMatchObject({ phase: 'Provisioning', reason: 'Forbidden' });
    expect(actions.at(-1)).toMatchObject({ do: 'redeliver' });
    expect(componentIn(reconcile({ workspace, refusals: refusals('Forbidden') }), 'app')).toMatchObject({
      phase: 'Failed',
    });
  });
});

describe('if the API server forbids reading in the namespace', () => {
  const shutOut = (given: Given = {}) => decide({ ...look(given), inside: undefined, isForbidden: true });
  const grantOf = (more: object, metadata: object = {}) => {
    const made = asMade(RoleBinding);
    return RoleBinding.parse({ ...made, ...more, metadata: { ...made.metadata, ...metadata } });
  };
  const workspace = lab({ vms: [aMachineOf({ vmDiskImageTemplate: ubuntu.spec })] });

  test.each<[string, ReturnType<typeof grantOf>]>([
    ['subjects', grantOf({ subjects: [] })],
    ['labels', grantOf({}, { labels: {} })],
  ])('a right with other %s is mended, and tried again soon', (_, roleBinding) => {
    const actions = shutOut({ roleBinding });
    expect(writes(actions)).toEqual([`replace RoleBinding ${roleBinding.metadata.name}`]);
    expect(componentIn(actions, 'ws-lab')).toMatchObject({ phase: 'Provisioning', reason: 'Forbidden' });
    expect(actions.at(-1)).toMatchObject({ do: 'redeliver' });
  });
  test('a RoleBinding to another role, which never changes, is reported once the API server has refused to repair it', () => {
    const roleBinding = grantOf({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    });
    const refusals = new Map([
      [refusalKey(RoleBinding, roleBinding.metadata), { reason: 'Invalid', message: 'cannot change roleRef' }],
    ]);
    const actions = shutOut({ roleBinding, refusals });
    expect(writes(actions)).toEqual([]);
    expect(statusIn(actions)).toMatchObject({
      phase: 'Failed',
      message: expect.stringContaining('was refused: Invalid: cannot change roleRef'),
    });
  });
  test.each<[string, ReturnType<typeof grantOf>]>([
    ['made', grantOf({}, { creationTimestamp: at(-5) })],
    ['mended', grantOf({}, { managedFields: [{ time: at(-3600) }, { time: at(-5) }] })],
  ])('a right that was %s just now is tried again soon', (_, roleBinding) => {
    const actions = shutOut({ roleBinding });
    expect(writes(actions)).toEqual([]);
    expect(statusIn(actions)).toMatchObject({ phase: 'Provisioning' });
    expect(actions.at(-1)).toMatchObject({ do: 'redeliver' });
  });
  test('although the RoleBinding has been right for long, that is reported, and no redelivery is asked for', () => {
    const actions = shutOut();
    expect(statusIn(actions)).toMatchObject({ phase: 'Failed', message: expect.stringContaining('found it refused') });
    expect(conditionIn(actions, 'Ready')).toMatchObject({ status: 'False', reason: 'Forbidden' });
    expect(actions.map((action) => action.do)).not.toContain('redeliver');
    expect(actions.map((action) => action.do)).not.toContain('requeue');
    const said = { ...lab(), status: statusIn(actions) };
    expect(shutOut({ workspace: said })).toEqual([]);
  });
  test('no image is made: the machines may have their disks', () => {
    expect(writes(reconcile({ workspace, image: null }))).toContain('create VMDiskImage ubuntu');
    expect(writes(shutOut({ workspace, image: null }))).toEqual([]);
  });
  test('a deleted workspace has its RoleBinding repaired, and reports it meanwhile', () => {
    const actions = shutOut({ workspace: aWorkspace({ deleted: true }), roleBinding: grantOf({ subjects: [] }) });
    expect(writes(actions)).toHaveLength(1);
    expect(statusIn(actions).message).toMatch(/^The workspace is being deleted: Expected RoleBinding/);
    expect(actions.at(-1)).toMatchObject({ do: 'redeliver' });
  });
});

test.each<[string, object]>([
  ['in', { ingress: [{}] }],
  ['out', { egress: [{}] }],
])(
  'a way %s through the NetworkPolicy is closed, and it is not written again when the API server drops what is empty',
  (_, way) => {
    const policy = madeOf(reconcile({}), 'NetworkPolicy') as unknown as NetworkPolicy;
    const { ingress: _in, egress: _out, ...spec } = policy.spec as Record<string, unknown>;
    const found = (more: object) => ours(NetworkPolicy, 'ws-deny-all', { spec: { ...spec, ...more } }, policy.metadata);
    expect(writes(reconcile({ inside: { networkPolicies: [found({})] } }))).toEqual([]);
    expect(writes(reconcile({ inside: { networkPolicies: [found(way)] } }))).toEqual([
      'replace NetworkPolicy ws-deny-all',
    ]);
  },
);

describe('a deleted workspace', () => {
  const workspace = aWorkspace({ deleted: true });
  const deployments = [ours(Deployment, 'app')];
  const claims = [ours(PersistentVolumeClaim, 'data')];
  const definitions = [network('net')];
  const outside = { isServed: true, vpc: ours(Vpc, 'ws-lab'), subnets: [ours(Subnet, 'ws-lab-net')] };
  test.each<[string, Given, string[]]>([
    ['what runs', { inside: { deployments, claims, definitions }, outside }, ['delete Deployment app']],
    ['then volumes', { inside: { claims, definitions }, outside }, ['delete PersistentVolumeClaim data']],
    [
      'then networks',
      { inside: { definitions }, outside },
      ['delete NetworkAttachmentDefinition net', 'delete Subnet ws-lab-net'],
    ],
    ['then their router', { outside: { ...outside, subnets: [] } }, ['delete Vpc ws-lab']],
    ['then the namespace', {}, ['delete Namespace ws-lab']],
  ])('takes down %s', (_, given, expected) => {
    expect(writes(reconcile({ workspace, ...given }))).toEqual(expected);
  });
  test('is let go when nothing is left', () => {
    const last = decide({ ...look({ workspace, namespace: undefined, roleBinding: undefined }), inside: undefined });
    expect(last).toMatchObject([{ do: 'patchMetadata', metadata: { finalizers: [] } }]);
  });
  test('says what it waits for, and who holds that', () => {
    const stuck = ours(Deployment, 'app', {}, { deletionTimestamp: at(0), finalizers: ['example.org/held'] });
    const actions = reconcile({ workspace, inside: { deployments: [stuck] } });
    expect(writes(actions)).toEqual([]);
    expect(statusIn(actions).message).toContain('Deployment ws-lab/app is being deleted, held by example.org/held');
    expect(conditionIn(actions, 'Ready')).toMatchObject({ status: 'False', reason: 'Terminating' });
  });
  test('says what keeps it from the right to take everything down', () => {
    const roleBinding = RoleBinding.parse({ metadata: { ...asMade(RoleBinding).metadata, ownerReferences: [] } });
    const { name } = roleBinding.metadata;
    const theirs = decide({ ...look({ workspace, roleBinding }), inside: undefined });
    expect(writes(theirs)).toEqual([]);
    expect(statusIn(theirs).message).toContain(`Expected RoleBinding ws-lab/${name} to be the workspace's own`);
    expect(componentIn(theirs, 'ws-lab')).toMatchObject({ phase: 'Failed', reason: 'NameTaken' });
    const refusals = new Map([
      [refusalKey(RoleBinding, { namespace: 'ws-lab', name }), { reason: 'Invalid', message: 'no such role' }],
    ]);
    const refused = decide({ ...look({ workspace, roleBinding: undefined, refusals }), inside: undefined });
    expect(statusIn(refused).message).toContain('was refused: Invalid: no such role');
  });
  test('leaves objects of other owners alone', () => {
    const theirs = Namespace.parse({ metadata: { name: 'ws-lab', uid: 'theirs' } });
    const actions = decide({ ...look({ workspace, namespace: theirs, roleBinding: undefined }), inside: undefined });
    expect(writes(actions)).toEqual([]);
    expect(actions).toMatchObject([{ do: 'patchMetadata' }]);
  });
});

test('an empty workspace is Ready', () => {
  const policy = reconcile({}).find((action) => action.do === 'create' && action.resource === NetworkPolicy);
  expect(policy).toBeDefined();
  expect(statusIn(reconcile({}))).toMatchObject({ phase: 'Ready', ready: '1/1' });
});

describe('of a workspace that is Ready for the first time', () => {
  const measured = (actions: readonly Action[]) =>
    actions.flatMap((action) => (action.do === 'measure' ? [[action.attributes?.stage, action.value]] : []));
  const since = (type: string, seconds: number, reason = 'Ready') =>
    ({ type, status: 'True', reason, message: '1/1 ready.', lastTransitionTime: at(seconds) }) as const;
  const workspace = lab({}, { phase: 'Provisioning', conditions: [since('NamespaceReady', -3500)] });
  const madeAnHourAgo = { ...workspace, metadata: { ...workspace.metadata, creationTimestamp: at(-3600) } };

  test('it is measured how long each stage that has components took, and the whole', () => {
    expect(measured(reconcile({ workspace: madeAnHourAgo }))).toEqual([
      ['NamespaceReady', 100],
      ['Ready', 3600],
    ]);
  });
  test('nothing is measured again when it was Ready before', () => {
    const again = { ...madeAnHourAgo, status: { ...madeAnHourAgo.status, readyAt: at(-60) } };
    expect(measured(reconcile({ workspace: again }))).toEqual([]);
  });
});

test('everything done for a workspace is in one trace, with its images and existing machines', () => {
  const spec = { resources: { cpu: '1', memory: '1Gi' }, vmDiskImageRef: { name: 'ubuntu', namespace: 'vmdi-farm' } };
  const machine = ours(VirtualMachine, 'vm', { spec });
  const another = ours(VirtualMachine, 'other', { spec }, { ownerReferences: [] });
  const workspace = lab({ vms: [aMachineOf({ name: 'vm', backingVMDiskImage: 'ubuntu' })] }, { phase: 'Provisioning' });
  const traces = reconcile({ workspace, inside: { machines: [machine, another] } }).map(({ trace }) => trace);
  expect(traces.length).toBeGreaterThan(1);
  for (const trace of traces)
    expect(trace).toEqual({
      workspace: { uid: workspace.metadata.uid, phase: 'Provisioning' },
      images: [{ uid: ubuntu.metadata.uid, revision: 1, phase: 'Succeeded' }],
      machines: [{ uid: 'uid-vm' }],
    });
});
