import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Locator, Page } from 'playwright-core';
import { PingSource } from '../../deploy/cli/install/kinds.ts';
import { bringUp, type Up } from '../../deploy/local/up/bring-up.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { syncRequested, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { setPolicy, until, untilGone } from '../stories/world.ts';
import { findChromium, openChromium } from './open-chromium.ts';

/** Where the pictures go. */
const folder = fileURLToPath(new URL('../../deploy/console/pictures/', import.meta.url));

const images = 'vmdi-farm';
const course = 'course';
const viewport = { width: 1100, height: 760 };

/**
 * `npm run pictures`: brings the local cluster up, works on it as people do, and takes the pictures of the README of what its page
 * shows meanwhile. Ends with 1 where there is no Chromium.
 */
async function main(): Promise<number> {
  const found = await findChromium();
  if (found.missing) {
    console.error(`pictures: expected a Chromium, found none: ${found.missing}`);
    return 1;
  }
  await mkdir(folder, { recursive: true });
  const state = await mkdtemp(join(tmpdir(), 'ot-pictures-'));
  const ports = { port: 0, brokerPort: 0, storePort: 0, metricsPort: 0, consolePort: 0 };
  const up = await bringUp({ folder: state, fresh: true, wanted: ports });
  const browser = await openChromium(found.path);
  try {
    const page = await browser.newPage({ viewport, deviceScaleFactor: 1 });
    await page.goto(up.cluster.consoleUrl ?? '');
    await pruneOne(up);
    await ask(up);
    await page.locator('#slots li').nth(1).waitFor();
    await page.locator('#queue li').nth(2).waitFor();
    await until(up.cluster, Workspace, { name: course }, (lab) => lab?.status?.phase === 'Failed', 120_000);
    await askAgain(up);
    await page.locator('#lanes .bar.forecast').first().waitFor();
    await page.locator('#slots li', { hasText: 'Downloading' }).nth(1).waitFor();
    await take(page, 'downloads', page.locator('section[aria-labelledby="h-sync"]'));
    await take(page, 'workspace', page.locator('section[aria-labelledby="h-workspaces"]'));
    await page
      .locator('[data-table="images"]')
      .getByRole('link', { name: `${images}/ubuntu-24-04` })
      .click();
    await page.getByRole('dialog').getByRole('listitem').nth(3).waitFor();
    await take(page, 'timeline', page.getByRole('dialog'));
    return 0;
  } finally {
    await browser.close();
    await up.close();
    await rm(state, { recursive: true, force: true });
  }
}

/** As it is in light and in dark. */
async function take(page: Page, name: string, what: Locator): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const path = `${folder}${name}-${colorScheme}.png`;
    await what.screenshot({ path });
    console.log(`took ${path}`);
  }
}

const untilPhase = (up: Up, name: string, phase: string) =>
  until(up.cluster, VMDiskImage, { namespace: images, name }, (image) => image?.status?.phase === phase, 60_000);

const urlOf = ({ store }: Up, file: string) => `${store.url}/images/${file}`;

const specOf = (up: Up, file: string) => ({
  url: urlOf(up, file),
  secretRef: 's3-reader',
  storageClass: 'gp3',
  snapshotClass: 'ebs-snapshot',
  diskSize: '8Gi',
});

/** An image that is unused, and deleted for that. */
async function pruneOne(up: Up): Promise<void> {
  const { kube } = up.cluster;
  const old = { namespace: images, name: 'exercise-of-last-year' };
  await setPolicy(up.cluster, { prune: 'WhenUnreferenced', pruneAfter: '1s', concurrency: '2' });
  // Otherwise unused images are looked for every ten minutes.
  await kube.patch(
    PingSource,
    { namespace: operatorNamespace, name: 'pruning-audit' },
    { spec: { schedule: '*/5 * * * * *' } },
  );
  await kube.create(VMDiskImage, { metadata: old, spec: specOf(up, 'alpine-3.20.img.gz') });
  await untilPhase(up, old.name, 'Succeeded');
  await untilGone(up.cluster, VMDiskImage, old, 60_000);
  await setPolicy(up.cluster, { prune: 'Never' });
}

/** What teachers and students ask for on a Monday. */
async function ask(up: Up): Promise<void> {
  const { kube } = up.cluster;
  await kube.create(Namespace, { metadata: { name: 'class-7' } });
  const wanted = {
    'ubuntu-24-04': 'ubuntu-24.04.qcow2',
    'windows-2022': 'windows-2022.qcow2',
    'debian-12': 'debian-12.qcow2',
    'router-image': 'router-os-9.qcow2',
    'attacker-image': 'debian-12.qcow2',
    'alpine-3-20': 'alpine-3.20.img.gz',
  };
  for (const [name, file] of Object.entries(wanted))
    await kube.create(VMDiskImage, { metadata: { name, namespace: images }, spec: specOf(up, file) });
  for (const student of ['anna', 'ben'])
    await kube.create(VirtualMachine, {
      metadata: { name: `desk-${student}`, namespace: 'class-7' },
      spec: { resources: { cpu: '1', memory: '1Gi' }, vmDiskImageRef: { name: 'ubuntu-24-04', namespace: images } },
    });
  await kube.create(Workspace, {
    metadata: { name: course },
    spec: {
      networks: [{ name: 'campus', cidr: '10.10.0.0/24' }],
      vms: [
        machineOf('attacker', 'attacker-image'),
        machineOf('router', 'router-image'),
        machineOf('victim', 'ubuntu-24-04'),
      ],
    },
  });
}

/** Images that were downloaded are asked for again, so that there are downloads of the past; one is left, of which a forecast is made. */
async function askAgain(up: Up): Promise<void> {
  const names = ['windows-2022', 'ubuntu-24-04', 'alpine-3-20'];
  for (const name of [...names, 'debian-12']) await untilPhase(up, name, 'Succeeded');
  const metadata = { annotations: { [syncRequested]: 'for the picture' } };
  for (const name of names) await up.cluster.kube.patch(VMDiskImage, { namespace: images, name }, { metadata });
}

const machineOf = (name: string, image: string) => ({
  name,
  backingVMDiskImage: image,
  resources: { cpu: '1', memory: '1Gi' },
  interfaces: [{ network: 'campus' }],
});

process.exitCode = await main();
