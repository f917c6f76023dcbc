import { isDeepStrictEqual } from 'node:util';
import { statusChange } from '../controller/status-patch.ts';
import { eventsFrom, patchOf, type Write, withFinalizer, withoutFinalizer } from '../controller/write.ts';
import { formatted } from './format-subnet.ts';
import { finalizer, isOvn, Subnet, type SubnetStatus, type Vpc } from './kinds.ts';
import { counted, failed, ready, validated } from './subnet-status.ts';
import { conflictOf, refusalOf } from './validate-subnet.ts';

const eventOn = eventsFrom('kube-ovn-controller');

interface ObservedSubnet {
  subnet: Subnet;
  vpc: Vpc | undefined;
  others: readonly Subnet[];
  /** How many of its addresses are in use. */
  using: number;
  /** What a fault has kube-ovn say of it. */
  refusal: string | undefined;
  ovnError: string | undefined;
  /** As before v1.16: reports conflicting ranges, but has the network ready. */
  forgivesConflicts: boolean;
  nowMs: number;
}

/** What one look at a Subnet writes, one after the other, and why there has to be another one. */
interface SubnetStep {
  writes: Write[];
  /** Why it was not finished: kube-ovn tries again with growing pauses. */
  retry?: string;
}

/** The next look of kube-ovn's controller at a Subnet (v1.16 pkg/controller/subnet.go, handleAddOrUpdateSubnet). */
export function nextForSubnet(observed: ObservedSubnet): SubnetStep {
  const { subnet, using, refusal, nowMs } = observed;
  const spec = formatted(subnet);
  if (!spec) return { writes: [], retry: `subnet ${subnet.metadata.name} cidr ${subnet.spec.cidrBlock} is invalid` };
  if (!isDeepStrictEqual(spec, subnet.spec)) {
    // Its own write wakes it again.
    return { writes: [patchOf(Subnet, subnet, { spec })] };
  }
  const status = subnet.status ?? {};
  const wrong = refusal ?? refusalOf(subnet);
  if (wrong !== undefined) return refused(subnet, status, 'ValidateLogicalSwitchFailed', wrong, nowMs);
  const valid = counted(validated(status, nowMs), spec, using);
  const before = [...statusChange(Subnet, subnet, valid, status), ...hold(observed)];
  if (subnet.metadata.deletionTimestamp && using === 0) return { writes: before };
  const rest = connect(observed, valid);
  return { ...rest, writes: [...before, ...rest.writes] };
}

function hold({ subnet, using }: ObservedSubnet): Write[] {
  const { deletionTimestamp, finalizers = [] } = subnet.metadata;
  const isHeld = finalizers.includes(finalizer);
  if (!deletionTimestamp) return isHeld ? [] : [withoutVersion(withFinalizer(Subnet, subnet, finalizer))];
  return isHeld && using === 0 ? [withoutVersion(withoutFinalizer(Subnet, subnet, finalizer))] : [];
}

/** The status that was written just before has another resourceVersion. */
function withoutVersion(write: Write): Write {
  if (write.do !== 'patch') return write;
  const { resourceVersion: _, ...metadata } = write.patch.metadata as Record<string, unknown>;
  return { ...write, patch: { metadata } };
}

function connect(observed: ObservedSubnet, status: SubnetStatus): SubnetStep {
  const { subnet, vpc, others, ovnError, forgivesConflicts, nowMs } = observed;
  const { spec } = subnet;
  if (!isOvn(subnet))
    return { writes: statusChange(Subnet, subnet, ready(status, 'SetNonOvnSubnetSuccess', nowMs), status) };
  // A missing Vpc is not reported in the object.
  if (!vpc) return { writes: [], retry: `vpc.kubeovn.io "${spec.vpc}" not found` };
  if (!vpc.status?.standby) return { writes: [], retry: `the vpc '${vpc.metadata.name}' not standby yet` };
  const stranger = (spec.namespaces ?? []).find((name) => !vpc.spec.namespaces?.includes(name));
  if (stranger !== undefined && vpc.status.default !== true) {
    return { writes: [], retry: `namespace '${stranger}' is out of range to custom vpc '${vpc.metadata.name}'` };
  }
  const conflict = conflictOf(subnet, others);
  const conflicting =
    conflict === undefined ? undefined : refused(subnet, status, 'ValidateLogicalSwitchFailed', conflict, nowMs);
  if (conflicting && !forgivesConflicts) return conflicting;
  const reached = conflict === undefined ? status : failed(status, 'ValidateLogicalSwitchFailed', conflict, nowMs);
  const what = spec.private ? 'SetPrivateLogicalSwitch' : 'ResetLogicalSwitchAcl';
  if (ovnError !== undefined) return refused(subnet, reached, `${what}Failed`, ovnError, nowMs);
  return {
    writes: [
      ...(conflicting?.writes ?? []),
      ...statusChange(Subnet, subnet, ready(reached, `${what}Success`, nowMs), reached),
    ],
  };
}

function refused(subnet: Subnet, status: SubnetStatus, reason: string, message: string, nowMs: number): SubnetStep {
  const writes = statusChange(Subnet, subnet, failed(status, reason, message, nowMs), status);
  return { writes: [...writes, eventOn(subnet, 'Warning', reason, message)], retry: message };
}
