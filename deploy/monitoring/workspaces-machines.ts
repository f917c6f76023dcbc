import { type Dashboard, rowsOf } from './dashboard.ts';
import { counts, halfAndNineOfTen, here, quantile, rise, series, stateOfAll } from './expressions.ts';

/** The states of labs and machines, who uses which images, and what OpenStack answers. */
export const workspacesMachines: Dashboard = {
  uid: 'ot-workspaces-machines',
  title: 'Workspaces and machines',
  description: 'Their states, the time until they are Ready, and the images that they keep.',
  rows: rowsOf({
    Now: {
      'Workspaces Ready': {
        description: 'All of their parts are.',
        unit: 'short',
        shape: 'number',
        queries: [{ expr: stateOfAll(series('ot.workspaces', `${here},phase="Ready"`)), legend: '' }],
      },
      'Workspaces failed': {
        description: 'They heal when the cause goes: kubectl get otws -o wide names it.',
        unit: 'short',
        shape: 'number',
        queries: [{ expr: stateOfAll(series('ot.workspaces', `${here},phase="Failed"`)), legend: '' }],
        alerts: ['OtWorkspacesFailed'],
        redFrom: 1,
      },
      'Workspaces late': {
        description: 'Their images are not expected before their start: kubectl describe otws says why.',
        unit: 'short',
        shape: 'number',
        queries: [{ expr: stateOfAll(series('ot.workspace.late', here)), legend: '' }],
        alerts: ['OtWorkspacesLate'],
        redFrom: 1,
      },
      'Machines Ready': {
        description: 'Those of workspaces among them.',
        unit: 'short',
        shape: 'number',
        queries: [{ expr: stateOfAll(series('ot.machines', `${here},phase="Ready"`)), legend: '' }],
      },
      'Machines failed': {
        description: 'They heal when the cause goes: kubectl describe otvm names it.',
        unit: 'short',
        shape: 'number',
        queries: [{ expr: stateOfAll(series('ot.machines', `${here},phase="Failed"`)), legend: '' }],
        alerts: ['OtMachinesFailed'],
        redFrom: 1,
      },
      'Unused images that are due': {
        description: 'What prune deletes next, or would.',
        unit: 'short',
        shape: 'number',
        queries: [{ expr: stateOfAll(series('ot.image.prunable', here)), legend: '' }],
      },
      'Longest unused': {
        description: 'How long the image that is unused the longest has been unused.',
        unit: 's',
        shape: 'number',
        queries: [{ expr: `max(${series('ot.image.unreferenced.duration', here)})`, legend: '' }],
      },
    },
    Workspaces: {
      'Workspaces by phase': {
        description:
          'Provisioning for long: its images are on their way, or a stage waits. Scheduled: booked. Hibernated: stopped, and costs its disks only.',
        unit: 'short',
        shape: 'stacked',
        queries: [{ expr: stateOfAll(series('ot.workspaces', here), 'phase'), legend: '{{phase}}' }],
        alerts: ['OtWorkspacesFailed'],
      },
      'Their parts by phase': {
        description: 'Machines, containers, volumes, networks of all workspaces.',
        unit: 'short',
        shape: 'stacked',
        queries: [{ expr: stateOfAll(series('ot.workspace.components', here), 'phase'), legend: '{{phase}}' }],
        alerts: ['OtWorkspacesFailed'],
      },
      'From creation, or the scheduled start, to each stage, over the last hour': {
        description: 'Nine of ten took no longer; the stage that takes longest is what labs wait for.',
        unit: 's',
        shape: 'lines',
        queries: [{ expr: quantile(0.9, 'ot.workspace.ready.duration', here, 'stage'), legend: '{{stage}}' }],
      },
    },
    Machines: {
      'Machines by phase': {
        description: 'Provisioning for long: the image is on its way, or KubeVirt has no node.',
        unit: 'short',
        shape: 'stacked',
        queries: [{ expr: stateOfAll(series('ot.machines', here), 'phase'), legend: '{{phase}}' }],
        alerts: ['OtMachinesFailed'],
      },
      'From creation to Ready, over the last hour': {
        description: 'The wait for an image that is not there yet included.',
        unit: 's',
        shape: 'lines',
        queries: halfAndNineOfTen('ot.machine.ready.duration', here),
      },
      'From a machine that runs to a guest that answers, over the last hour': {
        description: 'Of machines with readiness, at each start.',
        unit: 's',
        shape: 'lines',
        queries: halfAndNineOfTen('ot.machine.guest.ready.duration', here),
      },
      'Images by how many machines use them': {
        description: 'prune looks at the unused images.',
        unit: 'short',
        shape: 'stacked',
        queries: [{ expr: stateOfAll(series('ot.image.references', here), 'machines'), legend: '{{machines}}' }],
      },
    },
    'Machines on OpenStack, where that part is installed': {
      'Machines on OpenStack by phase': {
        description: 'kubectl describe virtualmachines.kupenstack.io says what each waits for.',
        unit: 'short',
        shape: 'stacked',
        queries: [{ expr: stateOfAll(series('ot.servers', here), 'phase'), legend: '{{phase}}' }],
      },
      'Requests to OpenStack, by answer, over the last hour': {
        description: 'none: no answer came. 409 and 404 are part of daily life.',
        unit: 'short',
        shape: 'stacked',
        queries: [
          {
            expr: rise(counts('ot.openstack.call.duration', here), 'service, code', '1h'),
            legend: '{{service}} {{code}}',
          },
        ],
        alerts: ['OtOpenStackFails'],
      },
      'How long OpenStack takes to answer, over the last hour': {
        description: 'Nine of ten took no longer.',
        unit: 's',
        shape: 'lines',
        queries: [{ expr: quantile(0.9, 'ot.openstack.call.duration', here, 'service'), legend: '{{service}}' }],
        alerts: ['OtOpenStackFails'],
      },
      'Logins at Keystone, over the last hour': {
        description: 'refused: a service did not take a token that had not expired.',
        unit: 'short',
        shape: 'stacked',
        queries: [{ expr: rise(series('ot.openstack.tokens', here), 'reason', '1h'), legend: '{{reason}}' }],
      },
    },
  }),
};
