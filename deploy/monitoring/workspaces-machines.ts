import { type Dashboard, lines, number, rowsOf, stacked } from './dashboard.ts';
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
        ...number(stateOfAll(series('ot.workspaces', `${here},phase="Ready"`))),
      },
      'Workspaces failed': {
        description: 'They heal when the cause goes: kubectl get otws -o wide names it.',
        ...number(stateOfAll(series('ot.workspaces', `${here},phase="Failed"`))),
        alerts: ['OtWorkspacesFailed'],
        redFrom: 1,
      },
      'Workspaces late': {
        description: 'Their images are not expected before their start: kubectl describe otws says why.',
        ...number(stateOfAll(series('ot.workspace.late', here))),
        alerts: ['OtWorkspacesLate'],
        redFrom: 1,
      },
      'Machines Ready': {
        description: 'Those of workspaces among them.',
        ...number(stateOfAll(series('ot.machines', `${here},phase="Ready"`))),
      },
      'Machines failed': {
        description: 'They heal when the cause goes: kubectl describe otvm names it.',
        ...number(stateOfAll(series('ot.machines', `${here},phase="Failed"`))),
        alerts: ['OtMachinesFailed'],
        redFrom: 1,
      },
      'Unused images that are due': {
        description: 'What prune deletes next, or would.',
        ...number(stateOfAll(series('ot.image.prunable', here))),
      },
      'Longest unused': {
        description: 'How long the image that is unused the longest has been unused.',
        unit: 's',
        ...number(`max(${series('ot.image.unreferenced.duration', here)})`),
      },
    },
    Workspaces: {
      'Workspaces by phase': {
        description:
          'Provisioning for long: its images are on their way, or a stage waits. Scheduled: booked. Hibernated: stopped, and costs its disks only.',
        ...stacked({ '{{phase}}': stateOfAll(series('ot.workspaces', here), 'phase') }),
        alerts: ['OtWorkspacesFailed'],
      },
      'Their parts by phase': {
        description: 'Machines, containers, volumes, networks of all workspaces.',
        ...stacked({ '{{phase}}': stateOfAll(series('ot.workspace.components', here), 'phase') }),
        alerts: ['OtWorkspacesFailed'],
      },
      'From creation, or the scheduled start, to each stage, over the last hour': {
        description: 'Nine of ten took no longer; the stage that takes longest is what labs wait for.',
        unit: 's',
        ...lines({ '{{stage}}': quantile(0.9, 'ot.workspace.ready.duration', here, 'stage') }),
      },
    },
    Machines: {
      'Machines by phase': {
        description: 'Provisioning for long: the image is on its way, or KubeVirt has no node.',
        ...stacked({ '{{phase}}': stateOfAll(series('ot.machines', here), 'phase') }),
        alerts: ['OtMachinesFailed'],
      },
      'From creation to Ready, over the last hour': {
        description: 'The wait for an image that is not there yet included.',
        unit: 's',
        ...lines(halfAndNineOfTen('ot.machine.ready.duration', here)),
      },
      'From a machine that runs to a guest that answers, over the last hour': {
        description: 'Of machines with readiness, at each start.',
        unit: 's',
        ...lines(halfAndNineOfTen('ot.machine.guest.ready.duration', here)),
      },
      'Images by how many machines use them': {
        description: 'prune looks at the unused images.',
        ...stacked({ '{{machines}}': stateOfAll(series('ot.image.references', here), 'machines') }),
      },
    },
    'Machines on OpenStack, where that part is installed': {
      'Machines on OpenStack by phase': {
        description: 'kubectl describe virtualmachines.kupenstack.io says what each waits for.',
        ...stacked({ '{{phase}}': stateOfAll(series('ot.servers', here), 'phase') }),
      },
      'Requests to OpenStack, by answer, over the last hour': {
        description: 'none: no answer came. 409 and 404 are part of daily life.',
        ...stacked({ '{{service}} {{code}}': rise(counts('ot.openstack.call.duration', here), 'service, code', '1h') }),
        alerts: ['OtOpenStackFails'],
      },
      'How long OpenStack takes to answer, over the last hour': {
        description: 'Nine of ten took no longer.',
        unit: 's',
        ...lines({ '{{service}}': quantile(0.9, 'ot.openstack.call.duration', here, 'service') }),
        alerts: ['OtOpenStackFails'],
      },
      'Logins at Keystone, over the last hour': {
        description: 'refused: a service did not take a token that had not expired.',
        ...stacked({ '{{reason}}': rise(series('ot.openstack.tokens', here), 'reason', '1h') }),
      },
    },
  }),
};
