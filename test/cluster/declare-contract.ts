import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { definitions, groups } from '../proofs/contract/cases.ts';
import { send, type World } from '../proofs/contract/connection.ts';
import { type Difference, differences } from '../proofs/contract/differences.ts';
import { stories } from '../proofs/contract/kubectl-story.ts';
import {
  isUpdate,
  type Recording,
  readRecording,
  recordedVersion,
  writeRecording,
} from '../proofs/contract/recording.ts';
import { runCase } from '../proofs/contract/run-case.ts';
import { runStory } from '../proofs/contract/run-kubectl.ts';
import { realWorld, versionOf } from '../proofs/contract/worlds.ts';
import { kubectlOrFail } from './kubectl.ts';

const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** One of the cases, by where it stands among those of its group. */
type IsMeant = (each: unknown, index: number) => boolean;

/**
 * A test for each of the cases that are meant: a real API server, and kubectl on it, answer what was recorded; of another
 * version of Kubernetes, with exactly the differences that were recorded of that version.
 */
export function declareContract(isMeant: IsMeant): void {
  let world: World;
  let version: string;
  let differ: Recording;
  const isRecordedWhole = () => version === recordedVersion;
  beforeAll(async () => {
    world = await realWorld();
    version = await versionOf(world);
    differ = isRecordedWhole() ? {} : await readRecording(version);
    await define(world);
  });
  afterAll(async () => {
    if (!isUpdate() || isRecordedWhole()) return;
    await writeRecording(version, Object.fromEntries(Object.entries(differ).filter(([, found]) => found.length > 0)));
  });

  const differs = (name: string) => (step: number) =>
    isUpdate()
      ? !isRecordedWhole()
      : (differ[name] ?? []).some((each) => (each as Difference).at.startsWith(`${step}.`));
  const check = (name: string, recorded: unknown, found: unknown) => {
    const seen = differences(recorded, found);
    if (isUpdate()) differ[name] = seen;
    else expect(seen).toEqual(differ[name] ?? []);
  };

  describe('a real API server answers as the contract says:', () => {
    for (const [group, cases] of Object.entries(groups)) {
      describe(group, async () => {
        const recorded = await readRecording(group);
        const found: Recording = {};
        for (const each of cases.filter(isMeant)) {
          test(each.name, async () => {
            found[each.name] = await runCase(world, each, differs(each.name));
            check(each.name, recorded[each.name], found[each.name]);
          });
        }
        afterAll(async () => {
          if (isUpdate() && isRecordedWhole()) await writeRecording(group, merged(cases, recorded, found));
        });
      });
    }
  });

  describe('kubectl prints on a real cluster what the contract says:', async () => {
    const recorded = await readRecording('kubectl');
    const found: Recording = {};
    let cacheDirectory: string;
    beforeAll(async () => {
      cacheDirectory = await mkdtemp(join(tmpdir(), 'contract-'));
    });
    for (const story of stories.filter(isMeant)) {
      test(story.name, async () => {
        found[story.name] = await runStory({ kubeconfig: process.env.KUBECONFIG ?? '', cacheDirectory }, story);
        check(story.name, recorded[story.name], found[story.name]);
      });
    }
    afterAll(async () => {
      await rm(cacheDirectory, { recursive: true });
      if (isUpdate() && isRecordedWhole()) await writeRecording('kubectl', merged(stories, recorded, found));
    });
  });
}

/** Makes the kinds of the cases, and waits until they are served. */
async function define({ connection }: World): Promise<void> {
  for (const each of definitions) {
    const answer = await send(connection, {
      method: 'POST',
      path: definitionsPath,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(each),
    });
    expect([201, 409]).toContain(answer.status);
  }
  const names = definitions.map(({ metadata }) => `customresourcedefinition/${metadata.name}`);
  await kubectlOrFail('wait', '--for=condition=Established', ...names, '--timeout=60s');
}

/** What was recorded now, and the rest as it was recorded before. */
const merged = (all: readonly { name: string }[], recorded: Recording, found: Recording): Recording =>
  Object.fromEntries(
    all.flatMap(({ name }) => {
      const answers = found[name] ?? recorded[name];
      return answers ? [[name, answers]] : [];
    }),
  );
