import { editPolicy } from './common.ts';
import type { Row } from './row.ts';

const hostHelp =
  'Bring the host back. If it is certain to be off, delete the server: it is created again from its volumes.';
const edit = 'kubectl edit KIND NAME -n NAMESPACE';
const credentials = [
  'kubectl get secret openstack-credentials -n NAMESPACE',
  'kubectl get secret openstack-credentials -n sync-operator',
];

/** Reasons of the kinds of kupenstack.io. */
export const openStackReasons = {
  Reached: 'OpenStack answers.',
  Found: 'All of them exist.',
  Pending: 'Nothing is requested yet.',
  Stopped: 'The server is stopped.',
  Resizing: 'The server is being resized or moved.',
  Unknown: 'OpenStack reports no state that is known here.',
  Deleting: 'It is being deleted.',
  Downloading: 'Glance downloads the image.',
  Growing: 'Cinder enlarges the volume.',
  InUse: 'A server or a router uses it.',
  DiskMoving: 'A disk is being attached or detached.',
  CredentialsInvalid: {
    means: 'The Secret has no usable clouds.yaml.',
    help: 'Correct clouds.yaml in the Secret as the message says.',
    run: credentials,
  },
  CredentialsUnguarded: 'The Secret is read again once it has its finalizer.',
  CredentialsRefused: {
    means: 'OpenStack does not accept the credentials.',
    help: 'Check that the user in clouds.yaml exists in OpenStack and has a role in its project.',
    run: credentials,
  },
  EndpointNotAllowed: {
    means: "The policy's openstackEndpoints does not name an address of OpenStack.",
    help: "Add the line in the message to the policy's openstackEndpoints, if functions may send requests there; they try again by themselves.",
    run: ['ot-functions policy', editPolicy],
  },
  ProjectMissing: 'The namespace has no project in OpenStack.',
  ProjectRefused: {
    means: 'OpenStack makes no project for the namespace.',
    help: 'Let the account in clouds.yaml create projects, or give the namespace a Secret of its own.',
    run: credentials,
  },
  Unreachable: {
    means: 'OpenStack does not answer.',
    help: 'Check that the address in clouds.yaml answers from within the cluster; the function tries again by itself.',
    run: credentials,
  },
  Unavailable: 'OpenStack cannot serve the request now; it is sent again.',
  Unauthorized: 'OpenStack does not accept the token.',
  Refused: 'OpenStack refuses the request as invalid.',
  Conflict: 'OpenStack refuses the request in the present state; it is sent again.',
  QuotaExceeded: {
    means: 'The project has no quota left.',
    help: 'Ask for less, delete what the project does not need, or have its quota raised; it is asked for again by itself.',
    run: [edit],
  },
  NotUnique: { means: 'OpenStack has several of it.', help: 'Delete those that the message names and no one wants.' },
  NetworkNotReady: 'A network is not ready yet.',
  NetworkNotUnique: {
    means: 'OpenStack has several networks of that name.',
    help: 'Rename those that are not meant.',
  },
  NetworkWithoutSubnet: {
    means: 'A network has no subnet.',
    help: 'Give the network a subnet, or name another.',
    run: [edit],
  },
  NoFreeAddresses: { means: 'No range of addresses is left.', help: 'Say a cidr.', run: [edit] },
  VolumeMissing: { means: 'A volume does not exist.', help: 'Create the volume, or name another.', run: [edit] },
  VolumeNotReady: 'A volume is not ready yet.',
  VolumeNotUnique: {
    means: 'OpenStack has several volumes of that name.',
    help: 'Rename those that are not meant.',
  },
  VolumeInUse: {
    means: 'Another server has the volume.',
    help: 'Detach the volume from the machine that uses it, or name another. The first command lists the machines with their servers.',
    run: [
      'kubectl get virtualmachines.kupenstack.io -n NAMESPACE -o custom-columns=machine:.metadata.name,server:.status.id',
      edit,
    ],
  },
  VolumeError: 'Cinder reports an error of a volume that was filled before; nothing is deleted.',
  VolumeFailed: 'Cinder could not make the volume; it is tried again.',
  DownloadFailed: {
    means: 'Glance could not download the image; it is tried again.',
    help: 'Check that source.image answers from where Glance runs, and correct it if it does not.',
    run: [edit],
  },
  AttemptFailed: 'An attempt to make the volume failed; it is tried again.',
  ImageNotUnique: { means: 'Glance has several images of that name.', help: 'Say the id of the image.', run: [edit] },
  ImageNotActive: {
    means: 'The image in Glance is not active.',
    help: 'Complete its upload, or name another.',
    run: [edit],
  },
  NoBootableDisk: {
    means: 'No volume of the machine is bootable.',
    help: 'Name a volume with an image as its source, or set one of its volumes bootable.',
    run: [edit],
  },
  RootDiskKept: {
    means: 'The disk that the server booted from cannot be changed.',
    help: 'Name the disk that it booted from again, or create another machine.',
    run: [edit],
  },
  FlavorMissing: {
    means: 'There is no flavor of that size, and the account may not create one.',
    help: 'Have an administrator create a flavor of exactly that size, or ask for the size of an existing one.',
    run: [edit],
  },
  ResizeFailed: {
    means: 'Nova did not resize the server.',
    help: 'Ask for a size that a host has room for; this one is asked for again by itself.',
    run: [edit],
  },
  BootFailed: 'The server did not boot; it is tried again.',
  ServerError: {
    means: 'The server is in ERROR.',
    help: "Wait: it is created again from its volumes after the policy's serverRecoverAfter.",
    run: ['ot-functions policy'],
  },
  HostDown: { means: 'The host of the server is down.', help: hostHelp },
  HostUnknown: { means: 'Nova does not know whether the host of the server is up.', help: hostHelp },
} as const satisfies Readonly<Record<string, Row>>;
