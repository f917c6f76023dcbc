import * as z from 'zod';
import { bodyAs, firstKeyOf } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import { type Answer, type Asked, done } from '../route.ts';
import { checkQuota } from './create-volume.ts';
import { setStatus } from './handle.ts';
import type { Volume, VolumeStatus } from './state.ts';

const Extend = z.object({ 'os-extend': z.object({ new_size: z.coerce.number().int().min(1) }) });
const Bootable = z.object({ 'os-set_bootable': z.object({ bootable: z.union([z.boolean(), z.stringbool()]) }) });
const Reset = z.object({
  'os-reset_status': z.object({ status: z.string().optional(), attach_status: z.string().optional() }),
});

/** What POST …/action does, by the one key of its body. */
export function volumeAction(cloud: Cloud, volume: Volume, asked: Asked): Answer {
  const name = firstKeyOf(asked.body);
  const perform = actions[name];
  if (!perform) throw new Refusal(400, `There is no such action: ${name}`);
  return perform(cloud, volume, asked);
}

type Action = (cloud: Cloud, volume: Volume, asked: Asked) => Answer;

const extend: Action = (cloud, { id, size, status, projectId }, { body, minor }) => {
  const { new_size } = bodyAs(Extend, body)['os-extend'];
  // In use only from 3.42 on.
  const isAllowed = status === 'available' || (status === 'in-use' && minor >= 42);
  if (!isAllowed)
    throw new Refusal(
      400,
      `Invalid volume: Volume ${id} status must be '{'status': 'available'}' to extend, currently ${status}.`,
    );
  if (new_size <= size)
    throw new Refusal(
      400,
      `Invalid input received: New size for extend must be greater than current size. (current: ${size}, extended: ${new_size}).`,
    );
  checkQuota(cloud, projectId, { volumes: 0, gigabytes: new_size - size });
  setStatus(cloud, id, 'extending');
  cloud.clock.after(cloud.times.extend, () =>
    cloud.fails('extendVolume')
      ? setStatus(cloud, id, 'error_extending')
      : setStatus(cloud, id, status, { size: new_size }),
  );
  return done(202);
};

const setBootable: Action = (cloud, { id, status }, { body }) => {
  const { bootable } = bodyAs(Bootable, body)['os-set_bootable'];
  setStatus(cloud, id, status, { bootable });
  return done(200);
};

const resetStatus: Action = (cloud, { id }, { body, caller }) => {
  if (!caller.isAdmin)
    throw new Refusal(403, "Policy doesn't allow volume_extension:volume_admin_actions:reset_status to be performed.");
  const { status } = bodyAs(Reset, body)['os-reset_status'];
  if (status !== undefined) setStatus(cloud, id, status as VolumeStatus);
  return done(202);
};

const forceDelete: Action = (cloud, { id }, { caller }) => {
  if (!caller.isAdmin)
    throw new Refusal(403, "Policy doesn't allow volume_extension:volume_admin_actions:force_delete to be performed.");
  setStatus(cloud, id, 'deleting');
  cloud.clock.after(cloud.times.deleteVolume, () => cloud.volume.volumes.delete(id));
  return done(202);
};

const actions: Record<string, Action> = {
  'os-force_delete': forceDelete,
  'os-extend': extend,
  'os-set_bootable': setBootable,
  'os-reset_status': resetStatus,
};
