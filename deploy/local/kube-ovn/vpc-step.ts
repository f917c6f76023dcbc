import { statusChange } from '../controller/status-patch.ts';
import { patchOf, type Write } from '../controller/write.ts';
import { finalizer, isOvn, type Subnet, Vpc } from './kinds.ts';

/** The next look of kube-ovn's controller at a Vpc (v1.15 pkg/controller/vpc.go): its finalizer, its routes, what it has. */
export function nextForVpc(vpc: Vpc, subnets: readonly Subnet[]): Write[] {
  const { deletionTimestamp, finalizers = [] } = vpc.metadata;
  const isHeld = finalizers.includes(finalizer);
  const inside = subnets.filter(
    (subnet) => subnet.spec.vpc === vpc.metadata.name && !subnet.metadata.deletionTimestamp && isOvn(subnet),
  );
  if (deletionTimestamp && inside.length === 0) {
    const others = finalizers.filter((each) => each !== finalizer);
    // What the status says decides, and it says it a moment later than it is so.
    if (isHeld && !vpc.status?.subnets?.length) return [patchOf(Vpc, vpc, { metadata: { finalizers: others } })];
  }
  const routes = completed(vpc);
  const held = isHeld || deletionTimestamp ? {} : { metadata: { finalizers: [...finalizers, finalizer] } };
  const changes = { ...held, ...(routes ? { spec: { staticRoutes: routes } } : {}) };
  const names = inside.map(({ metadata }) => metadata.name).sort();
  const status = {
    ...vpc.status,
    standby: true,
    default: false,
    router: vpc.metadata.name,
    subnets: names,
    defaultLogicalSwitch: defaultOf(vpc, inside),
    enableExternal: false,
    enableBfd: false,
    ...loadBalancers(vpc.metadata.name),
  };
  return [...(Object.keys(changes).length > 0 ? [patchOf(Vpc, vpc, changes)] : []), ...statusChange(Vpc, vpc, status)];
}

/** Routes as Go writes them, by destination where they don't say by what; undefined where they are so already. */
function completed({ spec }: Vpc) {
  const routes = spec.staticRoutes ?? [];
  if (routes.every(({ policy }) => policy)) return undefined;
  return routes.map((route) => ({
    ecmpMode: '',
    bfdId: '',
    routeTable: '',
    ...route,
    policy: route.policy || 'policyDst',
  }));
}

function defaultOf({ spec }: Vpc, subnets: readonly Subnet[]): string {
  const named = subnets.find(({ metadata }) => metadata.name === spec.defaultSubnet);
  return (named ?? subnets.find((subnet) => subnet.spec.default))?.metadata.name ?? '';
}

const loadBalancers = (name: string) =>
  Object.fromEntries(
    ['tcp', 'udp', 'sctp'].flatMap((protocol) => [
      [`${protocol}LoadBalancer`, `vpc-${name}-${protocol}-load`],
      [`${protocol}SessionLoadBalancer`, `vpc-${name}-${protocol}-sess-load`],
    ]),
  );
