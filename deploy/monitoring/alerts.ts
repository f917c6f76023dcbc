import type { Alert } from './alert.ts';
import { series, state } from './expressions.ts';
import {
  bytesRecording,
  callsRecording,
  deadLettersRecording,
  handledRecording,
  missedRecording,
  refusedRecording,
} from './recordings.ts';

const waiting = (reasons: string) =>
  `sum by (namespace) (${state(series('ot.image.waits', `reason=~"${reasons}"`), 'namespace, reason')})`;

const failed = (metric: string) => `${state(series(metric, 'phase="Failed"'), 'namespace')} > 0`;

const sum = (by: string, { record }: { record: string }, matchers = '') =>
  `sum by (${by}) (${record}${matchers ? `{${matchers}}` : ''})`;

const idle = (progress: string) =>
  state(series('ot.slots.idle.duration', `progress="${progress}"`), 'namespace, progress');

const burnt = sum('namespace', bytesRecording, 'result="failure"');
const missed = sum('namespace, function', missedRecording);
const refused = sum('namespace, service', callsRecording, 'code=~"5..|none"');

/**
 * Every alert there is; each has a page in runbooks/ and its cases in test/support. What may be missing (a counter that has not
 * counted yet, a function that sleeps) comes after `unless`: with `and` the alert would never come.
 */
export const alerts: readonly Alert[] = [
  {
    name: 'OtNothingSyncs',
    severity: 'critical',
    expr: `${waiting('SlotFree|SlotsUnknown|Unseen')} > 0`,
    for: '10m',
    summary: 'Images wait although nothing blocks them.',
    description:
      'start-sync does nothing; images that wait although a slot is free, or that have no status yet: {{ $value }}.',
  },
  {
    name: 'OtPolicyInvalid',
    severity: 'critical',
    expr: `${state(series('ot.policy.valid'), 'namespace')} == 0`,
    for: '2m',
    summary: 'A key of the policy does not parse.',
    description: 'Nothing that depends on it starts until it is fixed; what runs continues.',
  },
  {
    name: 'OtStateUnknown',
    severity: 'critical',
    expr: ['ot.image.queue.length', 'ot.slots.held', 'ot.policy.valid']
      .map((metric) => `absent(${series(metric)})`)
      .join(' or '),
    for: '10m',
    summary: 'The state of images, slots and policy is not reported.',
    description: 'start-sync is not there, is not scraped, or cannot read the API: no other alert can be relied upon.',
  },
  {
    name: 'OtImageFailed',
    severity: 'warning',
    expr: `${state(series('ot.image.failed'), 'namespace, reason')} > 0`,
    for: '1m',
    summary: 'Images have failed finally.',
    description:
      'Images that are Failed with reason {{ $labels.reason }}, and are not tried again by themselves: {{ $value }}.',
  },
  {
    name: 'OtRetriesBurnBytes',
    severity: 'warning',
    expr: `(${burnt} > 10 * 2 ^ 30) unless (${burnt} <= 0.5 * ${sum('namespace', bytesRecording, 'result="success"')})`,
    for: '5m',
    summary: 'Attempts that fail download more than half of what is needed.',
    description: 'Failed attempts may have downloaded {{ $value | humanize1024 }}B within six hours.',
  },
  {
    name: 'OtSlotWithoutProgress',
    severity: 'warning',
    expr: `${idle('reported')} > 1800 or ${idle('unreported')} > 7200`,
    for: '5m',
    summary: 'A slot is held and its download does not move.',
    description: 'A slot has shown no progress for {{ $value | humanizeDuration }}; others wait for it.',
  },
  {
    name: 'OtImagesWaitLong',
    severity: 'warning',
    expr: `${state(series('ot.image.wait.duration', 'reason="SlotsTaken"'), 'namespace')} > 6 * 3600`,
    for: '15m',
    summary: 'An image has waited for a slot for hours.',
    description: 'The first in the queue has waited for {{ $value | humanizeDuration }} because all slots are taken.',
  },
  {
    name: 'OtImagesWaitWhilePaused',
    severity: 'info',
    expr: `${waiting('QueuePaused')} > 0`,
    for: '1h',
    summary: 'Images wait because the policy says pause.',
    description: 'concurrency is 0; images that wait: {{ $value }}.',
  },
  {
    name: 'OtEgressBudgetNearlySpent',
    severity: 'warning',
    expr: `${state(series('ot.egress.spent'), 'namespace')} > 0.8 * ${state(series('ot.egress.budget'), 'namespace')}`,
    for: '1m',
    summary: 'Four fifths of the budget for downloads are spent.',
    description: 'When all of it is spent, no download starts; bytes so far: {{ $value | humanize1024 }}.',
  },
  {
    name: 'OtEventsMissed',
    severity: 'warning',
    expr: `(${missed} > 5) unless (${missed} <= 0.05 * ${sum('namespace, function', handledRecording)})`,
    for: '10m',
    summary: 'Timers do work that events should have triggered.',
    description:
      '{{ $labels.function }} did work within an hour that no event had triggered: {{ $value | humanize }} times.',
  },
  {
    name: 'OtDeadLetters',
    severity: 'warning',
    expr: `${deadLettersRecording.record} > 0`,
    for: '0m',
    summary: 'Events were given up.',
    description:
      'Events ({{ $labels.event }}) that {{ $labels.function }} did not take within an hour: {{ $value | humanize }}.',
  },
  {
    name: 'OtAttemptsRefused',
    severity: 'warning',
    expr: `${refusedRecording.record} > 20`,
    for: '0m',
    summary: 'Someone asks for what the policy does not allow.',
    description:
      'What {{ $labels.function }} refused within an hour with reason {{ $labels.reason }}: {{ $value | humanize }}.',
  },
  {
    name: 'OtMachinesFailed',
    severity: 'warning',
    expr: failed('ot.machines'),
    for: '15m',
    summary: 'Machines have failed.',
    description: 'Machines that are Failed, and heal when the cause goes: {{ $value }}.',
  },
  {
    name: 'OtWorkspacesFailed',
    severity: 'warning',
    expr: failed('ot.workspaces'),
    for: '15m',
    summary: 'Workspaces have failed.',
    description: 'Workspaces that are Failed, and heal when the cause goes: {{ $value }}.',
  },
  {
    name: 'OtWorkspacesLate',
    severity: 'warning',
    expr: `${state(series('ot.workspace.late'), 'namespace')} > 0`,
    for: '1m',
    summary: 'Workspaces will start late.',
    description: 'Workspaces whose images are not expected before their start, or are not ready at it: {{ $value }}.',
  },
  {
    name: 'OtOpenStackFails',
    severity: 'warning',
    expr: `(${refused} > 10) unless (${refused} <= 0.2 * ${sum('namespace, service', callsRecording)})`,
    for: '5m',
    summary: 'OpenStack does not answer as it should.',
    description:
      "Requests to OpenStack's {{ $labels.service }} within 15 minutes that had no answer, or one of 5xx: {{ $value | humanize }}.",
  },
];
