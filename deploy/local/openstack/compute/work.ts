import type { Cloud } from '../cloud.ts';
import type { Asked } from '../route.ts';
import type { Stage } from './server-machine.ts';
import type { Server } from './state.ts';

/** Writes the next state of a server, if it still exists. */
export function change(cloud: Cloud, id: string, changes: Partial<Server>): void {
  const server = cloud.compute.servers.get(id);
  if (server) cloud.compute.servers.set(id, { ...server, ...changes, updatedMs: cloud.clock.now() });
}

/** Work on a server in stages; it ends when other work begins. */
interface Work {
  stages: readonly Stage[];
  /** After the stage with that task. */
  after?(task: string | null): void;
  end(server: Server): void;
}

/** Begins work; whatever the server was at before is over. */
export function begin(cloud: Cloud, id: string, work: Work): void {
  const number = (cloud.compute.servers.get(id)?.work ?? 0) + 1;
  change(cloud, id, { work: number });
  const isOver = () => cloud.compute.servers.get(id)?.work !== number;
  const next = (index: number) => {
    if (isOver()) return;
    const stage = work.stages[index];
    if (!stage) {
      const server = cloud.compute.servers.get(id);
      return server && work.end(server);
    }
    change(cloud, id, { taskState: stage.task });
    cloud.clock.after(cloud.times[stage.time], () =>
      whenHostIsUp(cloud, () => {
        if (isOver()) return;
        work.after?.(stage.task);
        next(index + 1);
      }),
    );
  };
  next(0);
}

/** Messages to a compute host that is down wait for it. */
export function whenHostIsUp({ host }: Cloud, task: () => void) {
  if (host.isUp) task();
  else host.waiting.push(task);
}

/** Records a requested action; os-instance-actions lists all of them. */
export function note(
  cloud: Cloud,
  id: string,
  action: string,
  { caller, requestId }: Pick<Asked, 'caller' | 'requestId'>,
): void {
  const server = cloud.compute.servers.get(id);
  const nowMs = cloud.clock.now();
  const noted = {
    action,
    requestId,
    userId: caller.userId,
    projectId: caller.projectId,
    startMs: nowMs,
    updatedMs: nowMs,
    message: null,
  };
  if (server) cloud.compute.servers.set(id, { ...server, actions: [...server.actions, noted] });
}

/** Notes that the last action failed. */
export function noteFailure(cloud: Cloud, id: string): void {
  const server = cloud.compute.servers.get(id);
  const last = server?.actions.at(-1);
  if (!server || !last) return;
  const failed = { ...last, message: 'Error', updatedMs: cloud.clock.now() };
  cloud.compute.servers.set(id, { ...server, actions: [...server.actions.slice(0, -1), failed] });
}
