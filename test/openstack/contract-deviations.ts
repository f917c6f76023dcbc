import type { Deviation } from '../proofs/contract/deviations.ts';

/** Every accepted difference between the simulator and the real services; a difference that no longer occurs must be removed. */
export const deviations: Deviation[] = [
  {
    what: 'disks are /dev/vda, /dev/vdb, …',
    reason: 'the real ones were recorded with a fake hypervisor, whose disks are /dev/sda; with KVM they are as here',
    where: {
      'a server boots from its volume, and its parts stay when it goes': [
        '*.body.server.OS-EXT-SRV-ATTR:root_device_name',
        '*.body.volume.attachments.0.device',
      ],
      'a volume is attached and detached while the server runs': [
        '*.body.volumeAttachment.device',
        '*.body.volumeAttachments.*.device',
        '*.body.volume.attachments.0.device',
        '26.body.0',
      ],
    },
  },
  {
    what: 'a volume that is available grows',
    reason:
      'the fake back end that was recorded cannot extend, and ends in error_extending; failWork does the same here',
    where: { 'a volume grows and never shrinks': ['11.seen', '12.body.volume.*'] },
  },
  {
    what: 'every answer has an x-openstack-request-id',
    reason: 'Glance has none where it refuses a token or shows its versions; no function needs it',
    where: {
      'a token is shown to who has it, and a revoked one is refused everywhere': ['9.headers.x-openstack-request-id'],
      'without a token nobody answers': ['3.headers.x-openstack-request-id'],
      'a microversion is echoed, and one that is not there refused': ['15.headers.x-openstack-request-id'],
    },
  },
  {
    what: 'a body that fits no schema is refused in other words',
    reason: 'the real words are those of a library that prints the whole schema; the status is the same',
    where: { 'an image that makes no sense is refused': ['0.body.message'] },
  },
  {
    what: 'the refusal of a scope beside an application credential has no empty field “identity”',
    reason: 'no function reads it',
    where: { 'an application credential logs in without a scope, until it is deleted': ['5.body.error.identity'] },
  },
];
