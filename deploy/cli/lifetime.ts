import { awakeSince, extension, hibernation, Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { formatDuration, parseDurationMs } from '../../shared/kubernetes/duration.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { lifetimeOf } from '../../shared/workspaces/lifetime.ts';
import { UsageError } from '../terminal/arguments.ts';
import { type Body, type Call, exit, fieldManager, Refused } from './command.ts';
import { completeOnly } from './names.ts';
import { findWorkspace, formatName } from './target.ts';

/** Puts the end of a workspace off. */
export const extend: Body = {
  words: 'WORKSPACE DURATION',
  options: {},
  details: ['Adds to what was added before. A workspace without expiresAfter and schedule.endAt has no end.'],
  examples: ['extend demo-workspace-1 2h', 'extend demo-workspace-1 1h30m'],
  complete: completeOnly('workspace'),
  run: async (call) => {
    const [name = '', duration = '', ...more] = call.words;
    const addedMs = parseDurationMs(duration);
    if (!addedMs || more.length > 0)
      throw new UsageError(
        `expected WORKSPACE and DURATION, such as lab 2h, found ${call.words.join(' ') || 'nothing'}`,
      );
    const workspace = await found(call, name);
    const { expiresAtMs } = lifetimeOf(workspace);
    if (expiresAtMs === undefined) throw new Refused(withoutEnd(workspace, addedMs, call.nowMs));
    const before = parseDurationMs(workspace.metadata.annotations?.[extension] ?? '') ?? 0;
    const after = await annotate(call, workspace, { [extension]: formatDuration(before + addedMs) });
    const expiresAt = toTime(lifetimeOf(after).expiresAtMs ?? 0);
    return {
      lines: [`${formatName(after)} expires at ${expiresAt}.`],
      json: { workspace: after.metadata.name, expiresAt },
      code: exit.done,
    };
  },
};

/** Stops the machines and containers of a workspace. */
export const hibernate: Body = {
  words: 'WORKSPACE',
  options: {},
  details: ['Its machines and containers stop, until it is woken. Disks stay.'],
  examples: ['hibernate demo-workspace-1'],
  complete: completeOnly('workspace'),
  run: async (call) => {
    const workspace = await found(call, ...call.words);
    await annotate(call, workspace, { [hibernation]: 'true' });
    return {
      lines: [`${formatName(workspace)} hibernates. To wake it: ot-functions wake ${workspace.metadata.name}`],
      json: { workspace: workspace.metadata.name, hibernates: true },
      code: exit.done,
    };
  },
};

/** Starts again what hibernation stopped. */
export const wake: Body = {
  words: 'WORKSPACE',
  options: {},
  details: ['What ran before runs again; what a user had stopped stays stopped. hibernateAfter counts from now.'],
  examples: ['wake demo-workspace-1'],
  complete: completeOnly('workspace'),
  run: async (call) => {
    const workspace = await found(call, ...call.words);
    await annotate(call, workspace, { [hibernation]: null, [awakeSince]: toTime(call.nowMs) });
    return {
      lines: [`${formatName(workspace)} wakes. To wait for it: ot-functions wait workspace/${workspace.metadata.name}`],
      json: { workspace: workspace.metadata.name, hibernates: false },
      code: exit.done,
    };
  },
};

/** A workspace that nothing deletes, and how to change that. */
function withoutEnd(workspace: Workspace, addedMs: number, nowMs: number): string {
  const endAt = toTime(Math.max(lifetimeOf(workspace).startsAtMs, nowMs) + addedMs);
  const spec = JSON.stringify({ spec: { schedule: { endAt } } });
  const { name } = workspace.metadata;
  return `${formatName(workspace)} has no end to put off. To give it one: kubectl patch otws ${name} --type merge -p '${spec}'`;
}

async function found({ cluster }: Call, ...words: readonly string[]): Promise<Workspace> {
  const workspace = await findWorkspace(await cluster(), words);
  if (workspace.metadata.deletionTimestamp) throw new Refused(`${formatName(workspace)} is being deleted`);
  return workspace;
}

/** Refused if another writer was first. */
async function annotate({ cluster }: Call, { metadata }: Workspace, annotations: Record<string, string | null>) {
  const { kube } = await cluster();
  const { name, uid, resourceVersion } = metadata;
  return kube.patch(Workspace, { name }, { metadata: { uid, resourceVersion, annotations } }, { fieldManager });
}
