import * as z from 'zod';
import { bodyAs, firstKeyOf } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import { type Answer, type Asked, done } from '../route.ts';
import { fitsHost } from './boot.ts';
import { checkQuota, usableFlavor } from './create-server.ts';
import { mustBeAdmin, mustBeUnlocked } from './refusals.ts';
import { refusalOf, type ServerAction, serverActions } from './server-machine.ts';
import type { Server } from './state.ts';
import { begin, change, note, noteFailure } from './work.ts';

const Reboot = z.object({
  reboot: z.object({
    type: z
      .string()
      .toUpperCase()
      .pipe(z.enum(['SOFT', 'HARD'])),
  }),
});
const Resize = z.object({ resize: z.object({ flavorRef: z.coerce.string() }) });
const Reset = z.object({ 'os-resetState': z.object({ state: z.enum(['active', 'error']) }) });
const Lock = z.object({ lock: z.object({ locked_reason: z.string().optional() }).nullable() });

/** What POST …/action does, by the one key of its body. */
export function serverAction(cloud: Cloud, server: Server, asked: Asked): Answer {
  const name = firstKeyOf(asked.body);
  const perform = special[name] ?? plain(name);
  if (!perform) throw new Refusal(400, `There is no such action: ${name}`);
  return perform(cloud, server, asked);
}

type Perform = (cloud: Cloud, server: Server, asked: Asked) => Answer;

/** Actions that need no more than the table of arrows. */
function plain(name: string): Perform | undefined {
  const action = name in serverActions ? serverActions[name as keyof typeof serverActions] : undefined;
  return action && ((cloud, server, asked) => perform(cloud, server, asked, action));
}

function perform(cloud: Cloud, server: Server, asked: Asked, action: ServerAction, status = 202): Answer {
  mustBeUnlocked(server, asked);
  mustBeAllowed(server, action);
  note(cloud, server.id, action.name, asked);
  begin(cloud, server.id, {
    stages: action.stages,
    end: (after) => change(cloud, after.id, { ...action.becomes(after), taskState: null }),
  });
  return done(status);
}

/** Refuses with 409 what a server does not do now. */
export function mustBeAllowed(server: Server, action: Pick<ServerAction, 'name' | 'from' | 'interrupts'>): void {
  const refusal = refusalOf(server, action);
  if (refusal !== undefined) throw new Refusal(409, refusal);
}

const reboot: Perform = (cloud, server, asked) => {
  const isSoft = bodyAs(Reboot, asked.body).reboot.type === 'SOFT';
  return perform(cloud, server, asked, isSoft ? serverActions.rebootSoft : serverActions.rebootHard);
};

const resize: Perform = (cloud, server, asked) => {
  const flavor = usableFlavor(cloud, asked, bodyAs(Resize, asked.body).resize.flavorRef);
  const action = serverActions.resize;
  mustBeUnlocked(server, asked);
  if (flavor.id === server.flavor.id) throw new Refusal(400, 'When resizing, instances must change flavor!');
  mustBeAllowed(server, action);
  const more = (name: 'vcpus' | 'ram') => Math.max(0, flavor[name] - server.flavor[name]);
  checkQuota(cloud, server.projectId, { instances: 0, cores: more('vcpus'), ram: more('ram') });
  note(cloud, server.id, action.name, asked);
  begin(cloud, server.id, {
    stages: fitsHost(cloud, flavor) ? action.stages : action.stages.slice(0, 1),
    end: ({ id, vmState, flavor: former }) => {
      // Where no host has room it stays what it was, and only its actions tell.
      if (!fitsHost(cloud, flavor)) {
        change(cloud, id, { taskState: null });
        return noteFailure(cloud, id);
      }
      change(cloud, id, { vmState: 'resized', taskState: null, flavor, before: { flavor: former, vmState } });
    },
  });
  return done(202);
};

const resetState: Perform = (cloud, server, asked) => {
  mustBeAdmin(asked, 'os-admin-actions:reset_state');
  const { state } = bodyAs(Reset, asked.body)['os-resetState'];
  change(cloud, server.id, { vmState: state, taskState: null, work: server.work + 1 });
  return done(202);
};

const lock: Perform = (cloud, server, asked) => {
  const lockedReason = bodyAs(Lock, asked.body).lock?.locked_reason ?? null;
  note(cloud, server.id, 'lock', asked);
  change(cloud, server.id, { isLocked: true, lockedReason });
  return done(202);
};

const unlock: Perform = (cloud, server, asked) => {
  note(cloud, server.id, 'unlock', asked);
  change(cloud, server.id, { isLocked: false, lockedReason: null });
  return done(202);
};

const special: Record<string, Perform> = {
  reboot,
  resize,
  lock,
  unlock,
  'os-resetState': resetState,
  confirmResize: (cloud, server, asked) => perform(cloud, server, asked, serverActions.confirmResize, 204),
};

const names: Record<string, string> = {
  'os-stop': 'stopServer',
  'os-start': 'startServer',
  reboot: 'rebootServer',
  resize: 'resizeServer',
  confirmResize: 'confirmResize',
  revertResize: 'revertResize',
  'os-resetState': 'resetServerState',
};

/** What a fault calls an action. */
export const serverActionName = (body: unknown) => names[firstKeyOf(body)] ?? 'actOnServer';
