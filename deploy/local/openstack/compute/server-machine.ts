import type { Times } from '../times.ts';
import type { Server, VmState } from './state.ts';

/** The status that Nova shows for what a server is and what is being done to it (nova/api/openstack/common.py). */
export function statusOf({ vmState, taskState }: Pick<Server, 'vmState' | 'taskState'>): string {
  const special = byTask[vmState]?.find(({ tasks }) => tasks.includes(taskState ?? ''));
  return special?.status ?? plain[vmState];
}

const plain: Record<VmState, string> = {
  building: 'BUILD',
  active: 'ACTIVE',
  stopped: 'SHUTOFF',
  paused: 'PAUSED',
  suspended: 'SUSPENDED',
  resized: 'VERIFY_RESIZE',
  error: 'ERROR',
  deleted: 'DELETED',
};

const resizing = { status: 'RESIZE', tasks: ['resize_prep', 'resize_migrating', 'resize_migrated', 'resize_finish'] };
const hard = { status: 'HARD_REBOOT', tasks: ['rebooting_hard', 'reboot_pending_hard', 'reboot_started_hard'] };
const byTask: Partial<Record<VmState, { status: string; tasks: string[] }[]>> = {
  active: [{ status: 'REBOOT', tasks: ['rebooting', 'reboot_pending', 'reboot_started'] }, hard, resizing],
  stopped: [resizing],
  resized: [{ status: 'REVERT_RESIZE', tasks: ['resize_reverting'] }],
};

/** One piece of what an action does: this task, for so long. */
export interface Stage {
  task: string | null;
  time: keyof Times;
}

/** What an action asks of a server, how long it is at it, and what it is then. */
export interface ServerAction {
  /** As instance actions and refusals call it. */
  name: string;
  from: readonly VmState[];
  /** Tasks that it does not wait for. */
  interrupts?: readonly string[];
  stages: readonly Stage[];
  becomes(server: Server): Partial<Server>;
}

const running = { vmState: 'active', powerState: 1 } as const;
const off = { vmState: 'stopped', powerState: 4 } as const;
const powerOf = (vmState: VmState) => (vmState === 'stopped' ? 4 : 1);
const resize = (task: string): Stage => ({ task, time: 'resizeStage' });

/** The arrows between the states of a server that an action starts (nova/compute/api.py, check_instance_state). */
export const serverActions = {
  'os-stop': {
    name: 'stop',
    from: ['active', 'error'],
    stages: [{ task: 'powering-off', time: 'stop' }],
    becomes: () => off,
  },
  'os-start': {
    name: 'start',
    from: ['stopped'],
    stages: [{ task: 'powering-on', time: 'start' }],
    becomes: () => running,
  },
  rebootSoft: {
    name: 'reboot',
    from: ['active'],
    stages: [{ task: 'rebooting', time: 'reboot' }],
    becomes: () => running,
  },
  rebootHard: {
    name: 'reboot',
    from: ['active', 'stopped', 'paused', 'suspended', 'error'],
    interrupts: ['rebooting', 'rebooting_hard', 'pausing', 'unpausing', 'suspending', 'resuming'],
    stages: [{ task: 'rebooting_hard', time: 'reboot' }],
    becomes: () => running,
  },
  pause: {
    name: 'pause',
    from: ['active'],
    stages: [{ task: 'pausing', time: 'stop' }],
    becomes: () => ({ vmState: 'paused', powerState: 3 }),
  },
  unpause: {
    name: 'unpause',
    from: ['paused'],
    stages: [{ task: 'unpausing', time: 'start' }],
    becomes: () => running,
  },
  suspend: {
    name: 'suspend',
    from: ['active'],
    stages: [{ task: 'suspending', time: 'stop' }],
    becomes: () => ({ vmState: 'suspended', powerState: 7 }),
  },
  resume: {
    name: 'resume',
    from: ['suspended'],
    stages: [{ task: 'resuming', time: 'start' }],
    becomes: () => running,
  },
  resize: {
    name: 'resize',
    from: ['active', 'stopped'],
    stages: ['resize_prep', 'resize_migrating', 'resize_migrated', 'resize_finish'].map(resize),
    becomes: () => ({ vmState: 'resized' }),
  },
  // No task is shown meanwhile: the server stays in VERIFY_RESIZE until it is confirmed.
  confirmResize: {
    name: 'confirmResize',
    from: ['resized'],
    stages: [{ task: null, time: 'confirm' }],
    becomes: ({ before }) => ({ vmState: before?.vmState ?? 'active', before: undefined }),
  },
  revertResize: {
    name: 'revertResize',
    from: ['resized'],
    stages: [{ task: 'resize_reverting', time: 'confirm' }],
    becomes: ({ before, flavor }) => ({
      vmState: before?.vmState ?? 'active',
      powerState: powerOf(before?.vmState ?? 'active'),
      flavor: before?.flavor ?? flavor,
      before: undefined,
    }),
  },
} satisfies Record<string, ServerAction>;

/** Why a server does not do an action now, in Nova's words; undefined where it may. */
export function refusalOf(
  { id, vmState, taskState, launchedMs }: Server,
  { name, from, interrupts = [] }: Pick<ServerAction, 'name' | 'from' | 'interrupts'>,
): string | undefined {
  if (launchedMs === undefined) return `Instance ${id} is not ready`;
  if (!from.includes(vmState)) return `Cannot '${name}' instance ${id} while it is in vm_state ${vmState}`;
  if (taskState !== null && !interrupts.includes(taskState))
    return `Cannot '${name}' instance ${id} while it is in task_state ${taskState}`;
  return undefined;
}

/** `/dev/vda`, `/dev/vdb`, …: the first that the server does not have yet. */
export function freeDevice(devices: readonly string[]): string {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const letter = letters.find((each) => !devices.includes(`/dev/vd${each}`)) ?? 'z';
  return `/dev/vd${letter}`;
}
