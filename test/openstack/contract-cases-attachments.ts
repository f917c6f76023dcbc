import { volume, volumeIs } from './contract-cases-volume.ts';
import { act, isActive, portIs, running, stop } from './contract-machine.ts';
import { type Cases, only, type Step } from './contract-step.ts';

const told = () => '';
const second: Step[] = [{ ...volume({}, 'second'), pick: told }, volumeIs('available', 'second')];
const attachments = 'compute /servers/{server}/os-volume_attachments';
const attach = (name: string): Step => ({
  ask: `POST ${attachments}`,
  body: { volumeAttachment: { volumeId: `{${name}}` } },
});
const interfaces = 'compute /servers/{server}/os-interface';
const newPort: Step = {
  ask: 'POST network /v2.0/ports',
  body: { port: { network_id: '{network}', name: 'second' } },
  save: { port: 'port.id' },
  pick: told,
};
const addresses: Step = {
  ask: 'GET compute /servers/{server}',
  pick: (body: { server: { addresses: Record<string, unknown[]> } }) =>
    Object.values(body.server.addresses).map((each) => each.length),
};

export const attachmentCases: Cases = {
  'a volume is attached and detached while the server runs': [
    ...running,
    ...second,
    attach('second'),
    volumeIs('in-use', 'second'),
    { ask: `GET ${attachments}` },
    { ask: `GET ${attachments}`, version: null },
    {
      ask: `GET ${attachments}`,
      version: '2.89',
      pick: (body: { volumeAttachments: object[] }) =>
        body.volumeAttachments.map((each) => Object.keys(each).toSorted()),
    },
    { ask: `GET ${attachments}/{second}` },
    { ask: 'GET compute /servers/{server}', pick: only('server.os-extended-volumes:volumes_attached') },
    { ask: 'GET volume /volumes/{second}', pick: only('volume.attachments', 'volume.status') },
    attach('second'),
    { ask: 'DELETE volume /volumes/{second}' },
    { ask: 'POST volume /volumes/{second}/action', version: '3.41', body: { 'os-extend': { new_size: 2 } } },
    { ask: `DELETE ${attachments}/{second}` },
    volumeIs('available', 'second'),
    { ask: `GET ${attachments}/{second}` },
    { ask: `DELETE ${attachments}/{second}` },
    {
      ask: `GET ${attachments}`,
      pick: (body: { volumeAttachments: { device: string }[] }) => body.volumeAttachments.map(({ device }) => device),
    },
    {
      ask: 'GET compute /servers/{server}/os-instance-actions',
      pick: (body: { instanceActions: { action: string }[] }) => body.instanceActions.map(({ action }) => action),
    },
  ],
  'the root volume stays; a volume that is not there is not attached': [
    ...running,
    { ask: `DELETE ${attachments}/{volume}` },
    { ask: `DELETE ${attachments}/11111111-1111-1111-1111-111111111111` },
    attach('server'),
    {
      ...attach('x'),
      body: { volumeAttachment: { volumeId: 'none' } },
      pick: (body: { badRequest: { code: number } }) => body.badRequest.code,
    },
    {
      ask: 'POST compute /servers/11111111-1111-1111-1111-111111111111/os-volume_attachments',
      body: { volumeAttachment: { volumeId: '{volume}' } },
    },
    ...second,
    ...stop,
    { ...attach('second'), pick: told },
    volumeIs('in-use', 'second'),
    { ask: `DELETE ${attachments}/{second}` },
    volumeIs('available', 'second'),
    { ask: 'POST volume /volumes/{second}/action', as: 'owner', body: { 'os-reset_status': { status: 'error' } } },
    attach('second'),
    { ask: 'POST volume /volumes/{second}/action', as: 'owner', body: { 'os-reset_status': { status: 'available' } } },
  ],
  'a port is attached and detached while the server runs, and stays': [
    ...running,
    { ask: `GET ${interfaces}` },
    newPort,
    { ask: `POST ${interfaces}`, body: { interfaceAttachment: { port_id: '{port}' } } },
    { ...portIs(), until: { paths: ['port.status'], are: ['ACTIVE'] } },
    portIs(),
    addresses,
    { ask: `POST ${interfaces}`, body: { interfaceAttachment: { port_id: '{port}' } } },
    { ask: `POST ${interfaces}`, body: { interfaceAttachment: { port_id: '11111111-1111-1111-1111-111111111111' } } },
    { ask: `GET ${interfaces}/{port}` },
    { ask: `DELETE ${interfaces}/{port}` },
    { ...portIs(), until: { paths: ['port.device_id'], are: [''] } },
    portIs(),
    { ask: `GET ${interfaces}/{port}` },
    { ask: `DELETE ${interfaces}/{port}` },
    { ask: `DELETE ${interfaces}/11111111-1111-1111-1111-111111111111` },
    { ...addresses, until: { paths: ['server.status'], are: ['ACTIVE'] } },
    { ask: `POST ${interfaces}`, body: { interfaceAttachment: { net_id: '11111111-1111-1111-1111-111111111111' } } },
  ],
  'a port that Nova made goes when it is detached, and one that is deleted is gone from its server': [
    ...running,
    {
      ask: `POST ${interfaces}`,
      body: { interfaceAttachment: { net_id: '{network}' } },
      save: { made: 'interfaceAttachment.port_id' },
      pick: told,
    },
    { ask: 'GET network /v2.0/ports/{made}', as: 'admin', pick: only('port.device_owner', 'port.binding:host_id') },
    { ask: `DELETE ${interfaces}/{made}` },
    { ask: 'GET network /v2.0/ports/{made}', until: { status: 404, paths: [] } },
    { ask: 'DELETE network /v2.0/ports/{port}' },
    {
      ask: `GET ${interfaces}`,
      pick: (body: { interfaceAttachments: unknown[] }) => body.interfaceAttachments.length,
    },
    act({ reboot: { type: 'HARD' } }),
    isActive,
  ],
};

export const versionCases: Cases = {
  'a microversion is echoed, and one that is not there refused': [
    { ask: 'GET compute /servers', shows: ['openstack-api-version', 'x-openstack-nova-api-version', 'vary'] },
    {
      ask: 'GET compute /servers',
      version: null,
      shows: ['openstack-api-version', 'x-openstack-nova-api-version', 'vary'],
    },
    { ask: 'GET compute /servers', version: '2.999', shows: ['openstack-api-version', 'x-openstack-nova-api-version'] },
    { ask: 'GET compute /servers', version: '3.0' },
    { ask: 'GET compute /servers', version: 'nonsense', shows: ['openstack-api-version'] },
    { ask: 'GET compute /servers', version: 'latest', shows: ['openstack-api-version'] },
    {
      ask: 'GET compute /servers',
      version: null,
      headers: { 'x-openstack-nova-api-version': '2.60' },
      shows: ['openstack-api-version'],
    },
    { ask: 'GET volume /volumes', shows: ['openstack-api-version', 'vary'] },
    { ask: 'GET volume /volumes', version: null, shows: ['openstack-api-version'] },
    { ask: 'GET volume /volumes', version: '3.999', shows: ['openstack-api-version'] },
    { ask: 'GET volume /volumes', version: 'latest', shows: ['openstack-api-version'] },
    {
      ask: 'GET compute /',
      pick: only('version.id', 'version.status', 'version.version', 'version.min_version', 'version.links'),
    },
    { ask: 'GET compute /', as: 'nobody', pick: only('version.id') },
    { ask: 'GET compute /nothing' },
    { ask: 'PATCH compute /servers' },
    { ask: 'GET image /nothing', pick: told },
  ],
};
