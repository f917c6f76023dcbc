import { afterAll, expect } from 'vitest';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import { quietly } from '../tools/captured-output.ts';
import { anAccount, serveOnOpenStack, sessionOf, stageMs } from './openstack-harness.ts';

/** A function in memory, with an account of OpenStack in namespace `lab`, and a session of that account. */
export async function withOneAccount<Observed>(declaration: FunctionDeclaration<Observed>) {
  const harness = await serveOnOpenStack(declaration, { isQuick: true });
  afterAll(harness.close);
  const account = await anAccount(harness.openStack, harness.clock.now, 'lab');
  await harness.namespace('lab', account);
  return { harness, session: sessionOf(account, harness.clock.now) };
}

type FunctionHarness = Awaited<ReturnType<typeof serveOnOpenStack>>;
type Process = ReturnType<FunctionHarness['begin']>;

type Known = KubernetesObject & { status?: { observedGeneration?: number | undefined } | undefined };

/** The life of an object: it is created, changed and deleted. */
interface Life<T extends Known> {
  resource: Resource<T>;
  spec: object;
  changes: readonly object[];
  /** Whether nothing is left to do for its present generation. */
  isDone(object: T): boolean | Promise<boolean>;
  /** What it has come to in OpenStack. */
  content(): Promise<object>;
}

/** One stage of a life: what a person does, one event, and when it is over. */
interface Stage {
  act(): Promise<unknown>;
  look(process: Process): Promise<number>;
  isOver(): Promise<boolean>;
  /** What it has come to. */
  end(): Promise<unknown>;
}

function stagesOf<T extends Known>({ kube }: FunctionHarness, life: Life<T>, name: string): Stage[] {
  const { resource, spec, changes, isDone, content } = life;
  const { apiVersion, kind } = resource;
  const ref = { namespace: 'lab', name };
  const found = () => kube.get(resource, ref);
  const isOver = async () => {
    const object = await found();
    return object?.status?.observedGeneration === object?.metadata.generation && object !== undefined && isDone(object);
  };
  const isGone = async () => (await found()) === undefined;
  const stage = (act: () => Promise<unknown>, over = isOver): Stage => ({
    act,
    look: (process) => process.changed(resource, ref),
    isOver: over,
    end: async () => ({ status: (await found())?.status, ...(await content()) }),
  });
  return [
    stage(() => kube.create(resource, { apiVersion, kind, metadata: ref, spec })),
    ...changes.map((change) => stage(() => kube.patch(resource, ref, { spec: change }))),
    stage(() => kube.delete(resource, ref), isGone),
  ];
}

/** Where a process ends: right after that write of that stage. */
interface Death {
  stage: number;
  write: number;
}

/**
 * Lives a life of stages in which the function's process ends once, and another takes over; hands back what each stage came to.
 * Undefined where it never came to that write.
 */
async function live(harness: FunctionHarness, stages: readonly (Stage | undefined)[], death?: Death) {
  let process = harness.begin();
  let hasDied = false;
  const ends: unknown[] = [];
  for (const [index, stage] of stages.entries()) {
    if (!stage) continue;
    if (death?.stage === index) process = harness.begin({ diesAfterWrites: death.write });
    await stage.act();
    for (let looks = 0; ; looks++) {
      await quietly(() => stage.look(process));
      if (process.isDead()) {
        process = harness.begin();
        hasDied = true;
        continue;
      }
      if (await stage.isOver()) break;
      if (looks > 30) throw new Error(`expected an end after ${JSON.stringify(death)}, found ${await said(stage)}`);
      harness.clock.step(10 * stageMs);
    }
    ends[index] = withoutIds(await stage.end());
  }
  return death && !hasDied ? undefined : ends;
}

/**
 * A life that goes through, and one for each write that a process may end after (of their stages only those that it takes), which
 * all come to the same end. Hands back what each stage came to, and how many lives there were.
 */
export async function livesOf<T extends Known>(harness: FunctionHarness, life: Life<T>) {
  const whole = await live(harness, stagesOf(harness, life, 'whole'));
  let lives = 0;
  for (let stage = 0; stage < (whole?.length ?? 0); stage++) {
    for (let write = 1; ; write++) {
      const all = stagesOf(harness, life, `dies-${stage}${write}`);
      const taken = all.map((one, index) =>
        index === 0 || index === stage || index === all.length - 1 ? one : undefined,
      );
      const ends = await live(harness, taken, { stage, write });
      if (!ends) break;
      lives++;
      for (const [index, end] of ends.entries())
        if (end) expect({ stage, write, index, end }).toEqual({ stage, write, index, end: whole?.[index] });
    }
  }
  return { whole, lives };
}

const said = async (stage: Stage) => JSON.stringify(withoutIds(await stage.end()));

/** The name of the life, the ids of what it made and the moments it took differ; nothing else may. */
const withoutIds = (end: unknown): unknown =>
  JSON.parse(
    JSON.stringify(end ?? null)
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32}/g, 'id')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, 'moment')
      .replace(/(whole|dies-\d+)/g, 'name')
      .replace(/\b10\.\d+\.\d+\.\d+/g, 'address'),
  );
