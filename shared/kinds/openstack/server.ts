import * as z from 'zod';
import { type ListFilter, queryOf, requestTo, step, uidKey, uidTag } from './request.ts';

/** A server as Nova reports it at microversion 2.79; an administrator also sees its host. */
export const Server = z.object({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  /** Changes with every task that begins or ends. */
  updated: z.string().default(''),
  created: z.string().default(''),
  tags: z.array(z.string()).default([]),
  metadata: z.record(z.string(), z.string()).default({}),
  'OS-EXT-STS:task_state': z.string().nullable().default(null),
  'OS-EXT-STS:vm_state': z.string().nullable().default(null),
  'OS-SRV-USG:launched_at': z.string().nullable().default(null),
  'OS-EXT-SRV-ATTR:host': z.string().nullable().optional(),
  /** UP, DOWN, MAINTENANCE, UNKNOWN or nothing; for administrators only. */
  host_status: z.string().optional(),
  flavor: z.object({ vcpus: z.number(), ram: z.number(), swap: z.number().default(0) }),
  fault: z.object({ message: z.string().default('') }).optional(),
  addresses: z
    .record(z.string(), z.array(z.object({ addr: z.string(), 'OS-EXT-IPS-MAC:mac_addr': z.string().default('') })))
    .default({}),
  'os-extended-volumes:volumes_attached': z.array(z.object({ id: z.string() })).default([]),
  'OS-EXT-SRV-ATTR:root_device_name': z.string().nullable().optional(),
});
export type Server = z.infer<typeof Server>;

/** One action that was asked of a server: create, start, stop, reboot, resize, … */
export const InstanceAction = z.object({
  action: z.string(),
  /** "Error" if Nova accepted the action and gave up; absent while it runs and after success. */
  message: z.string().nullable().optional(),
  /** UTC, which Nova does not say. */
  start_time: z.string().optional(),
  /** When it was done or given up, or began where neither is so (from 2.58); UTC, too. */
  updated_at: z.string().nullable().optional(),
});
export type InstanceAction = z.infer<typeof InstanceAction>;

const request = requestTo('compute');
const asked = (id: string) => `/servers/${step(id)}`;

/** Of the project. */
export const listServers = ({ uids }: Pick<ListFilter, 'uids'> = {}) =>
  request('listServers', 'GET', `/servers/detail${queryOf({ 'tags-any': uids?.map(uidTag).join() })}`);

/** One server; of one in ERROR that never got to a host, the lists do not say why, and this does (nova 26: it is in cell0). */
export const showServer = (id: string) => request('showServer', 'GET', asked(id));

/** Of another project, for administrators. */
export const listServersOf = (project: string) =>
  request('listServers', 'GET', `/servers${queryOf({ all_tenants: '1', project_id: project })}`);

/** Whether any server of any project has this flavor; for administrators. */
export const listServersWith = (flavor: string) =>
  request('listServers', 'GET', `/servers${queryOf({ all_tenants: '1', flavor, limit: '1' })}`);

export const listInstanceActions = (id: string) =>
  request('listInstanceActions', 'GET', `${asked(id)}/os-instance-actions`);

interface NewServer {
  uid: string;
  name: string;
  flavor: string;
  keyPair: string | undefined;
  /** Ports in the order of the networks. */
  ports: readonly string[];
  /** Volumes, the one to boot from first. */
  volumes: readonly string[];
}

/** Boots from the first volume, never from an image; the volumes stay when the server goes. */
export const createServer = ({ uid, name, flavor, keyPair, ports, volumes }: NewServer) =>
  request('createServer', 'POST', '/servers', {
    body: {
      server: {
        name,
        flavorRef: flavor,
        ...(keyPair ? { key_name: keyPair } : {}),
        // From microversion 2.37 on "none" has to be said.
        networks: ports.length > 0 ? ports.map((port) => ({ port })) : 'none',
        metadata: { [uidKey]: uid },
        tags: [uidTag(uid)],
        block_device_mapping_v2: volumes.map((volume, index) => ({
          uuid: volume,
          source_type: 'volume',
          destination_type: 'volume',
          boot_index: index === 0 ? 0 : -1,
          delete_on_termination: false,
        })),
      },
    },
  });

export const deleteServer = (id: string) => request('deleteServer', 'DELETE', asked(id), { about: id });

const action = (operation: string, id: string, body: unknown) =>
  request(operation, 'POST', `${asked(id)}/action`, { body });

export const startServer = (id: string) => action('startServer', id, { 'os-start': null });
export const stopServer = (id: string) => action('stopServer', id, { 'os-stop': null });
export const resizeServer = (id: string, flavor: string) =>
  action('resizeServer', id, { resize: { flavorRef: flavor } });

/** Until it is done the server looks as before, and a second one is refused (nova 26: 400). */
export const confirmResize = (id: string) => ({
  ...action('confirmResize', id, { confirmResize: null }),
  showsAfterMs: 2000,
});

export const attachVolume = (id: string, volume: string) =>
  request('attachVolume', 'POST', `${asked(id)}/os-volume_attachments`, {
    body: { volumeAttachment: { volumeId: volume } },
    about: volume,
  });

export const detachVolume = (id: string, volume: string) =>
  request('detachVolume', 'DELETE', `${asked(id)}/os-volume_attachments/${step(volume)}`, { about: volume });

export const attachPort = (id: string, port: string) =>
  request('attachPort', 'POST', `${asked(id)}/os-interface`, {
    body: { interfaceAttachment: { port_id: port } },
    about: port,
  });

export const detachPort = (id: string, port: string) =>
  request('detachPort', 'DELETE', `${asked(id)}/os-interface/${step(port)}`, { about: port });
