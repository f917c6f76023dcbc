import { afterAll, describe, expect, test } from 'vitest';
import declaration from '../../functions/provision-volume/index.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { listProjects, Project } from '../../shared/kinds/openstack/project.ts';
import { uidTag } from '../../shared/kinds/openstack/request.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import {
  administratorOf,
  anAccount,
  byHand,
  secretFor,
  serveOnOpenStack,
  sessionOf,
  stageMs,
} from '../support/harness/openstack-harness.ts';

/**
 * An author who may create Volumes in a namespace without an account of its own: they are made with the operator's token, whose Glance
 * shows the images of every project.
 */
const harness = await serveOnOpenStack(declaration);
afterAll(harness.close);
const { kube, clock, openStack } = harness;
const account = administratorOf(openStack);
const administrator = sessionOf(account, clock.now);
await kube.create(Secret, secretFor(account, { namespace: operatorNamespace }));
await harness.namespace('mallory');
const bob = sessionOf(await anAccount(openStack, clock.now, 'bob'), clock.now);
const eve = sessionOf(await anAccount(openStack, clock.now, 'eve'), clock.now);

/** An image with content; returns its id. */
async function image(of: typeof bob, name: string, visibility: string, more: object = {}): Promise<string> {
  const body = { name, visibility, disk_format: 'raw', container_format: 'bare', ...more };
  const { id } = (await of.send(byHand('image', 'POST', '/v2/images', body))) as { id: string };
  await of.send(
    byHand('image', 'POST', `/v2/images/${id}/import`, {
      method: { name: 'web-download', uri: 'https://images.example.com/any' },
    }),
  );
  clock.step(10 * stageMs);
  return id;
}

/** The image that mallory's Volume was filled from, or why it was not. */
async function filledFrom(name: string, source: string) {
  const { apiVersion, kind } = Volume;
  const ref = { namespace: 'mallory', name };
  const created = await kube.create(Volume, {
    apiVersion,
    kind,
    metadata: ref,
    spec: { size: '1Gi', source: { image: source } },
  });
  const asked: string[] = [];
  const process = harness.begin();
  for (let times = 0; times < 6; times++) {
    await process.changed(Volume, ref);
    clock.step(10 * stageMs);
  }
  for (const action of process.actions) {
    if (action.do !== 'call') continue;
    const { volume } = (action.request.body ?? {}) as { volume?: { imageRef?: string } };
    if (volume?.imageRef) asked.push(volume.imageRef);
  }
  const found = await kube.get(Volume, ref);
  return { uid: created.metadata.uid, image: asked[0] ?? conditionOf(found?.status?.conditions, 'Ready')?.reason };
}

/** The id of the project that mallory's namespace was given. */
async function projectOfMallory() {
  const namespace = await kube.get(Namespace, { name: 'mallory' });
  const found = await administrator.list(listProjects(uidTag(namespace?.metadata.uid ?? '')), 'projects', Project);
  return found[0]?.id ?? '';
}

describe("the image of another project, which would give mallory the content of another tenant's disk", () => {
  test.each(['private', 'shared'])('is not used by its name if it is %s', async (visibility) => {
    await image(bob, `payroll-${visibility}`, visibility);
    expect((await filledFrom(`by-name-${visibility}`, `payroll-${visibility}`)).image).toBe('ImageMissing');
  });
  test.each(['private', 'shared'])('is not used by its id if it is %s', async (visibility) => {
    const id = await image(bob, 'payroll', visibility);
    expect((await filledFrom(`by-id-${visibility}`, id)).image).toBe('ImageMissing');
  });
  test('is used once it is shared with the project of the namespace, which accepted it', async () => {
    const id = await image(bob, 'lent', 'shared');
    await bob.send(byHand('image', 'POST', `/v2/images/${id}/members`, { member: await projectOfMallory() }));
    expect((await filledFrom('pending', 'lent')).image).toBe('ImageMissing');
    const project = sessionOf(account, clock.now, await projectOfMallory());
    await project.send(
      byHand('image', 'PUT', `/v2/images/${id}/members/${await projectOfMallory()}`, { status: 'accepted' }),
    );
    expect((await filledFrom('accepted', 'lent')).image).toBe(id);
  });
});

describe("an image of a stranger's that has the name of a public one, which would keep all others from it or take its place", () => {
  test.each(['private', 'shared', 'community'])('does neither if it is %s', async (visibility) => {
    const id = await image(administrator, `ubuntu-${visibility}`, 'public');
    await image(eve, `ubuntu-${visibility}`, visibility);
    expect((await filledFrom(`public-${visibility}`, `ubuntu-${visibility}`)).image).toBe(id);
  });
  test('is used where it is a community image and its id is given', async () => {
    const id = await image(eve, 'debian', 'community');
    expect((await filledFrom('community-name', 'debian')).image).toBe('ImageMissing');
    expect((await filledFrom('community-id', id)).image).toBe(id);
  });
});

test("a stranger's image that claims to be the download of a Volume is not taken for it, which would be the disk of that Volume", async () => {
  const url = 'https://images.example.com/true.img';
  const ref = { namespace: 'mallory', name: 'claimed' };
  const { apiVersion, kind } = Volume;
  const volume = { apiVersion, kind, metadata: ref, spec: { size: '1Gi', source: { image: url } } };
  const { metadata } = await kube.create(Volume, volume);
  const id = await image(eve, 'claimed', 'community', { kupenstack_uid: metadata.uid });
  const process = harness.begin();
  await process.changed(Volume, ref);
  await process.changed(Volume, ref);
  const asked = process.actions.flatMap((action) => (action.do === 'call' ? [action.request] : []));
  expect(asked.map(({ operation }) => operation)).toContain('createImage');
  expect(JSON.stringify(asked)).not.toContain(id);
});
