/** Objects as they come, made such that what they name exists and is named once: others are refused early and go no deeper. */
type Fields = Record<string, unknown>;

const listAt = (of: Fields, field: string) => (Array.isArray(of[field]) ? (of[field] as Fields[]) : undefined);
const withList = (of: Fields, field: string, change: (list: Fields[]) => Fields[]): Fields => {
  const list = listAt(of, field);
  return list ? { ...of, [field]: change(list) } : of;
};

const distinctBy = (list: readonly Fields[], keyOf: (one: Fields) => unknown) => [
  ...new Map(list.map((one) => [JSON.stringify(keyOf(one)), one])).values(),
];

/** Each with its own name if no other before it has that, else with a free one. */
function namedApart(list: readonly Fields[], otherwise: string, taken: Set<string>): Fields[] {
  return list.map((one, index) => {
    const own = String(one.name);
    const name = taken.has(own) || !/^[a-z][-a-z0-9]*$/.test(own) ? `${otherwise}-${index}` : own;
    taken.add(name);
    return { ...one, name };
  });
}

const isIpv4 = (address: unknown) => !String(address).includes(':');

/** A machine with each network, address and login once, on addresses of networks that are alike. */
export const coherentMachine = (machine: unknown): Fields => {
  const apart = withList(machine as Fields, 'interfaces', (list) =>
    distinctBy(list, ({ network }) => network).map(({ ipAddress, gateway, ...one }, index) => ({
      ...one,
      ...(ipAddress === undefined ? {} : { ipAddress: `10.${index}.0.7/24` }),
      ...(gateway === undefined || ipAddress === undefined || index > 0 ? {} : { gateway: '10.0.0.1' }),
    })),
  );
  return withHardware(withDistinctUsers(apart));
};

/** With an instance type or a size of its own, and one way to ask whether its guest is ready: a port only on the network of Pods. */
function withHardware({ resources, readiness, ...machine }: Fields): Fields {
  const { cpu = '1', memory = '1Gi', ...other } = (resources ?? {}) as Fields;
  const { guestAgent, tcp, ...how } = (readiness ?? {}) as Fields;
  const { secureBoot } = (machine.firmware ?? {}) as Fields;
  const isAsked = !tcp || (listAt(machine, 'interfaces')?.length ?? 0) > 0;
  return {
    ...machine,
    resources: machine.instancetype === undefined ? { ...other, cpu, memory } : other,
    ...(readiness === undefined ? {} : { readiness: { ...how, ...(isAsked ? { guestAgent: true } : { tcp }) } }),
    ...(secureBoot ? { firmware: { secureBoot, bootloader: 'efi' } } : {}),
  };
}

const withDistinctUsers = (machine: Fields) =>
  withList(machine, 'users', (list) => distinctBy(list, ({ name }) => name));

const isRoleName = (role: unknown) => /^\w[\w-]{0,99}$/.test(String(role));
const roles = (list: Fields[]) =>
  list.map(({ role, variables, ...one }) => {
    const entries = Object.entries((variables ?? {}) as Fields).map(([key, value]) => [
      key.replace(/^\W*\d*|\W/g, '') || 'a',
      value,
    ]);
    return {
      ...one,
      role: isRoleName(role) ? role : 'role',
      ...(variables ? { variables: Object.fromEntries(entries) } : {}),
    };
  });

function ansibleOf(ansible: unknown): Fields {
  const { roles: all, ...rest } = (ansible ?? {}) as { roles?: Fields };
  return all ? { ...rest, roles: withList(withList(all, 'build', roles), 'deploy', roles) } : rest;
}

/** A lab whose members are on its own networks and mount its own volumes. */
export function coherentLab(lab: unknown): Fields {
  const spec = lab as Fields;
  const networks = namedApart(listAt(spec, 'networks') ?? [], 'net', new Set()).map((network, index) =>
    networkOf(network, index),
  );
  const taken = new Set<string>();
  const volumes = namedApart(listAt(spec, 'volumes') ?? [], 'vol', new Set()).map(({ localPath, ...one }) =>
    localPath === undefined ? one : { ...one, localPath: String(localPath).replaceAll('..', '') },
  );
  let member = 0;
  const joined = (of: Fields) => {
    member++;
    return withList(of, 'interfaces', (list) =>
      networks.slice(0, list.length).map(({ name }, index) => ({
        network: name,
        ...(list[index]?.ipAddress === undefined ? {} : { ipAddress: `10.${index}.0.${member}/24` }),
      })),
    );
  };
  const templates = new Set<unknown>();
  const machineOf = ({ vmDiskImageTemplate, ...one }: Fields) => {
    const isFirst = !templates.has(one.backingVMDiskImage);
    templates.add(one.backingVMDiskImage);
    return {
      ...withHardware(withDistinctUsers(joined(one))),
      ...(vmDiskImageTemplate && isFirst ? { vmDiskImageTemplate } : {}),
      ...(one.ansible ? { ansible: ansibleOf(one.ansible) } : {}),
    };
  };
  const { startAt, ...end } = (spec.schedule ?? {}) as Fields;
  const made: Fields = {
    schedule: 'endAt' in end ? end : { startAt },
    vms: namedApart(listAt(spec, 'vms') ?? [], 'vm', taken).map(machineOf),
    containerClusters: namedApart(listAt(spec, 'containerClusters') ?? [], 'pod', taken).map((cluster) =>
      clusterOf(joined(cluster), volumes),
    ),
    volumes,
    networks,
  };
  return Object.fromEntries(Object.entries(spec).map(([field, value]) => [field, made[field] ?? value]));
}

function networkOf(network: Fields, index: number): Fields {
  const { rangeGateway, nameservers, ...rest } = network;
  const { addresses = [] } = (nameservers ?? {}) as { addresses?: unknown[] };
  return {
    ...withList(rest, 'routes', (list) =>
      list
        .filter(({ destinationNetworkCidr: to }) => isIpv4(to))
        .map((route) => ({ ...route, nextHopIpAddress: `10.${index}.0.253` })),
    ),
    cidr: `10.${index}.0.0/24`,
    ...(rangeGateway === undefined ? {} : { rangeGateway: `10.${index}.0.254` }),
    ...(nameservers === undefined ? {} : { nameservers: { addresses: addresses.filter(isIpv4) } }),
  };
}

function clusterOf(cluster: Fields, volumes: readonly Fields[]): Fields {
  const ports = new Set<string>();
  return withList(cluster, 'containers', (list) =>
    namedApart(list, 'box', new Set()).map((container) => {
      const mounted = withList(container, 'volumeMounts', (mounts) =>
        distinctBy(mounts.slice(0, volumes.length), ({ containerPath }) => containerPath).map((mount, index) => ({
          ...mount,
          name: volumes[index]?.name,
        })),
      );
      return withList(mounted, 'portMappings', (mappings) =>
        mappings.filter(({ containerPort, hostPort }) => {
          const isFree = !ports.has(`${containerPort}`) && !ports.has(`host ${hostPort}`);
          ports.add(`${containerPort}`).add(`host ${hostPort}`);
          return isFree;
        }),
      );
    }),
  );
}
