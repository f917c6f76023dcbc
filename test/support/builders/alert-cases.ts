import type { AlertCase } from './alert-case.ts';

const namespace = 'sync-operator';

/** A series of the state, as start-sync's pod tells it; by another pod where there are two. */
const sample = (metric: string, labels = '', pod = 'start-sync-a') =>
  `${metric}{namespace="${namespace}",pod="${pod}"${labels && `,${labels}`}}`;

const waits = (reason: string) => sample('ot_image_waits', `reason="${reason}"`);
const bytes = (result: string) =>
  sample('ot_image_download_estimated_bytes_total', `result="${result}"`, 'follow-sync-a');
const missed = (pod: string) => sample('ot_events_missed_total', 'function="count-refs",timer="audit"', pod);
const handled = (pod: string) =>
  sample('ot_event_handling_duration_seconds_count', 'function="count-refs",result="done"', pod);
const letters = (pod: string) => sample('ot_dead_letters_total', 'function="prune",event="object"', pod);
const refused = sample(
  'ot_refused_attempts_total',
  'function="provision-vm",reason="NetworkNotAllowed"',
  'provision-vm-a',
);
const calls = (code: string) =>
  sample('ot_openstack_call_duration_seconds_count', `service="compute",operation="listServers",code="${code}"`);

const gigabytes = (count: number) => count * 2 ** 30;
const whole = { ot_image_queue_length: '0x60', ot_slots_held: '0x60', ot_policy_valid: '1x60' };

/** `fires`: the description of the one alert that fires, which has only the namespace as label unless `labels` says otherwise. */
type Row = Pick<AlertCase, 'series' | 'atMinute'> & { fires?: string; labels?: Readonly<Record<string, string>> };

const rows: Readonly<Record<string, Readonly<Record<string, Row>>>> = {
  OtNothingSyncs: {
    'two images wait beside a free slot, and one has not been looked at': {
      series: { [waits('SlotFree')]: '2x30', [waits('Unseen')]: '1x30', [waits('SlotsTaken')]: '0x30' },
      atMinute: 12,
      fires: 'start-sync does nothing; images that wait although a slot is free, or that have no status yet: 3.',
    },
    'images wait, and what holds the slots cannot be read': {
      series: { [waits('SlotsUnknown')]: '7x30' },
      atMinute: 12,
      fires: 'start-sync does nothing; images that wait although a slot is free, or that have no status yet: 7.',
    },
    'a hundred images wait for slots that others hold': {
      series: { [waits('SlotFree')]: '0x30', [waits('SlotsTaken')]: '100x30' },
      atMinute: 20,
    },
    'slots get free and are given, time and again': {
      series: { [waits('SlotFree')]: '1 0 1 1 0 1 2 0 1 1 1 0 1 1 0 1', [waits('Unseen')]: '0x30' },
      atMinute: 15,
    },
  },
  OtPolicyInvalid: {
    'a key does not parse': {
      series: { [sample('ot_policy_valid')]: '1 0x10' },
      atMinute: 4,
      fires: 'Nothing that depends on it starts until it is fixed; what runs continues.',
    },
    'a key did not parse for a minute': { series: { [sample('ot_policy_valid')]: '1 0 1x10' }, atMinute: 4 },
  },
  OtStateUnknown: {
    'no metric is reported': {
      series: { [sample('ot_image_pruned_total')]: '0x30' },
      atMinute: 11,
      fires: 'start-sync is not there, is not scraped, or cannot read the API: no other alert can be relied upon.',
      labels: {},
    },
    'images cannot be read any more': {
      series: { ...whole, ot_image_queue_length: '0x5 stale' },
      atMinute: 20,
      fires: 'start-sync is not there, is not scraped, or cannot read the API: no other alert can be relied upon.',
      labels: {},
    },
    'start-sync was away for its new version to come up': {
      series: { ot_image_queue_length: '0x5 stale _x5 0x20', ot_slots_held: '0x60', ot_policy_valid: '1x60' },
      atMinute: 20,
    },
  },
  OtImageFailed: {
    'two images are missing at their source': {
      series: {
        [sample('ot_image_failed', 'reason="NotFound"')]: '0 2x10',
        [sample('ot_image_failed', 'reason="SyncTimeout"')]: '0x10',
      },
      atMinute: 5,
      fires: 'Images that are Failed with reason NotFound, and are not tried again by themselves: 2.',
      labels: { namespace, reason: 'NotFound' },
    },
    'two pods tell of the same image, which is asked for once more': {
      series: {
        [sample('ot_image_failed', 'reason="NotFound"')]: '1x2 0x10',
        [sample('ot_image_failed', 'reason="NotFound"', 'start-sync-b')]: '1x2 0x10',
      },
      atMinute: 5,
    },
  },
  OtRetriesBurnBytes: {
    'failures download twenty gigabytes, and nothing succeeds': {
      series: { [bytes('failure')]: `_x5 ${gigabytes(20)}x60` },
      atMinute: 20,
      fires: 'Failed attempts may have downloaded 20GiB within six hours.',
    },
    'failures download more than half of what is needed': {
      series: { [bytes('failure')]: `_x5 ${gigabytes(24)}x60`, [bytes('success')]: `_x5 ${gigabytes(40)}x60` },
      atMinute: 20,
      fires: 'Failed attempts may have downloaded 24GiB within six hours.',
    },
    'one of many attempts fails': {
      series: { [bytes('failure')]: `_x5 ${gigabytes(24)}x60`, [bytes('success')]: `_x5 ${gigabytes(240)}x60` },
      atMinute: 20,
    },
    'a small image fails each time': { series: { [bytes('failure')]: `_x5 ${gigabytes(1)}x60` }, atMinute: 20 },
  },
  OtSlotWithoutProgress: {
    'a download has not moved for over half an hour': {
      series: {
        [sample('ot_slots_idle_duration_seconds', 'progress="reported"')]: '0+60x60',
        [sample('ot_slots_idle_duration_seconds', 'progress="unreported"')]: '0x60',
      },
      atMinute: 40,
      fires: 'A slot has shown no progress for 40m 0s; others wait for it.',
      labels: { namespace, progress: 'reported' },
    },
    'a download that tells no share runs for an hour': {
      series: {
        [sample('ot_slots_idle_duration_seconds', 'progress="reported"')]: '0x70',
        [sample('ot_slots_idle_duration_seconds', 'progress="unreported"')]: '0+60x70',
      },
      atMinute: 65,
    },
    'a download moves every twenty minutes': {
      series: { [sample('ot_slots_idle_duration_seconds', 'progress="reported"')]: '0+60x20 0+60x20 0+60x20' },
      atMinute: 60,
    },
  },
  OtImagesWaitLong: {
    'the first in the queue waits for seven hours': {
      series: { [sample('ot_image_wait_duration_seconds', 'reason="SlotsTaken"')]: '25200x20' },
      atMinute: 16,
      fires: 'The first in the queue has waited for 7h 0m 0s because all slots are taken.',
    },
    'a download runs for seven hours, and one in the queue waits for an hour': {
      series: {
        [sample('ot_image_wait_duration_seconds', 'reason="SlotsTaken"')]: '3600x20',
        [sample('ot_image_wait_duration_seconds', 'reason="Download"')]: '25200x20',
      },
      atMinute: 16,
    },
  },
  OtImagesWaitWhilePaused: {
    'a pause was forgotten': {
      series: { [waits('QueuePaused')]: '4x90' },
      atMinute: 61,
      fires: 'concurrency is 0; images that wait: 4.',
    },
    'a pause of half an hour': { series: { [waits('QueuePaused')]: '4x30 0x60' }, atMinute: 61 },
  },
  OtEgressBudgetNearlySpent: {
    'more than four fifths are spent': {
      series: {
        [sample('ot_egress_spent_bytes')]: `${gigabytes(81)}x10`,
        [sample('ot_egress_budget_bytes')]: `${gigabytes(100)}x10`,
      },
      atMinute: 5,
      fires: 'When all of it is spent, no download starts; bytes so far: 81Gi.',
    },
    'less is spent, or there is no budget': {
      series: {
        [sample('ot_egress_spent_bytes')]: `${gigabytes(79)}x10`,
        [sample('ot_egress_budget_bytes')]: `${gigabytes(100)}x5 stale`,
      },
      atMinute: 5,
    },
  },
  OtEventsMissed: {
    'no event comes at all, and a function that sleeps wakes for the audit alone': {
      series: { [missed('count-refs-a')]: '_x2 4x2 stale', [missed('count-refs-b')]: '_x12 4x2 stale' },
      atMinute: 30,
      fires: 'What count-refs found within an hour that no event had told it of: 8.',
      labels: { namespace, function: 'count-refs' },
    },
    'a few of thousands of events were on their way when a timer looked': {
      series: { [missed('count-refs-a')]: '_x2 8x30', [handled('count-refs-a')]: '_x2 4000x30' },
      atMinute: 30,
    },
    'what was missed yesterday is still counted': { series: { [missed('count-refs-a')]: '80x200' }, atMinute: 180 },
  },
  OtDeadLetters: {
    'a function that slept was woken by three letters, and sleeps again': {
      series: { [letters('dead-letters-a')]: '_x30 3x2 stale' },
      atMinute: 50,
      fires: 'Events (object) that prune did not take within an hour: 3.',
      labels: { namespace, function: 'prune', event: 'object' },
    },
    'the last letter came two hours ago, and its function has slept since': {
      series: { [letters('dead-letters-a')]: '_x30 3x2 stale' },
      atMinute: 160,
    },
    'the last letter came two hours ago, and its function is always there': {
      series: { [letters('dead-letters-a')]: '_x30 3x200' },
      atMinute: 160,
    },
    'no letter has ever come': { series: whole, atMinute: 30 },
  },
  OtAttemptsRefused: {
    'an author tries one network after the other': {
      series: { [refused]: '_x10 30x5 stale' },
      atMinute: 20,
      fires: 'What provision-vm refused within an hour with reason NetworkNotAllowed: 30.',
      labels: { namespace, function: 'provision-vm', reason: 'NetworkNotAllowed' },
    },
    'an author misspells a network a few times': { series: { [refused]: '_x10 4x40' }, atMinute: 40 },
  },
  OtMachinesFailed: {
    'a machine stays Failed': {
      series: { [sample('ot_machines', 'phase="Failed"')]: '1x30', [sample('ot_machines', 'phase="Ready"')]: '9x30' },
      atMinute: 16,
      fires: 'Machines that are Failed, and heal when the cause goes: 1.',
    },
    'a machine heals': { series: { [sample('ot_machines', 'phase="Failed"')]: '1x10 0x30' }, atMinute: 16 },
  },
  OtWorkspacesFailed: {
    'two workspaces stay Failed': {
      series: { [sample('ot_workspaces', 'phase="Failed"')]: '2x30' },
      atMinute: 16,
      fires: 'Workspaces that are Failed, and heal when the cause goes: 2.',
    },
    'workspaces are made': {
      series: {
        [sample('ot_workspaces', 'phase="Failed"')]: '0x30',
        [sample('ot_workspaces', 'phase="Provisioning"')]: '5x30',
      },
      atMinute: 16,
    },
  },
  OtWorkspacesLate: {
    'the images of three workspaces are not expected before their start': {
      series: { [sample('ot_workspace_late')]: '0x5 3x10' },
      atMinute: 8,
      fires: 'Workspaces whose images are not expected before their start, or are not ready at it: 3.',
    },
    'all workspaces start in time': {
      series: { [sample('ot_workspace_late')]: '0x30', [sample('ot_workspaces', 'phase="Scheduled"')]: '40x30' },
      atMinute: 8,
    },
  },
  OtOpenStackFails: {
    'Nova is away': {
      series: { [calls('503')]: '_x5 20x30', [calls('none')]: '_x5 10x30', [calls('200')]: '5x40' },
      atMinute: 14,
      fires: "Requests to OpenStack's compute within 15 minutes that had no answer, or one of 5xx: 30.",
      labels: { namespace, service: 'compute' },
    },
    'one in a hundred requests fails': {
      series: { [calls('503')]: '_x5 20x30', [calls('200')]: '_x5 2000x30' },
      atMinute: 14,
    },
    'nothing of OpenStack is installed': { series: whole, atMinute: 30 },
  },
};

/** For each alert: when it fires, and when it does not. */
export const alertCases: readonly AlertCase[] = Object.entries(rows).flatMap(([alert, cases]) =>
  Object.entries(cases).map(([name, { fires, labels = { namespace }, ...row }]) => ({
    alert,
    name,
    ...row,
    fires: fires === undefined ? [] : [{ labels, description: fires }],
  })),
);
