import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError, type Run } from './run.ts';
import type { Release } from './versions.ts';

/** kubectl with its context named, so that no other cluster is ever touched. */
export const kubectlOf =
  (run: Run, context: string) =>
  (...args: string[]) =>
    run('kubectl', ['--context', context, ...args]);

/** Applies the manifests of a release, and waits until its Deployments are Available. */
export async function applyRelease(run: Run, context: string, release: Release): Promise<string | undefined> {
  for (const url of release.urls) await applyUrl(run, context, url, release.sha256?.[url]);
  await waitForDeployments(run, context, release.namespaces);
  return undefined;
}

/** Waits until all Deployments of these namespaces are Available. */
export async function waitForDeployments(run: Run, context: string, namespaces: readonly string[]): Promise<void> {
  const kubectl = kubectlOf(run, context);
  for (const namespace of namespaces) {
    await kubectl('-n', namespace, 'wait', 'deployments', '--all', '--for=condition=Available', '--timeout=10m');
  }
}

const tries = 10;
const pauseMs = 6_000;

/** Retries: a webhook of the previous file may not be up yet. */
async function applyUrl(run: Run, context: string, url: string, sha256: string | undefined): Promise<void> {
  const kubectl = kubectlOf(run, context);
  const file = sha256 === undefined ? url : '-';
  const input = sha256 === undefined ? undefined : await verified(run, url, sha256);
  const args = ['--context', context, 'apply', '--server-side', '--force-conflicts', '-f', file];
  for (let left = tries; ; left--) {
    try {
      await run('kubectl', args, input === undefined ? {} : { input });
      break;
    } catch (error) {
      if (left === 1 || !(error instanceof CommandError)) throw error;
      await sleep(pauseMs);
    }
  }
  await kubectl('wait', 'customresourcedefinitions', '--all', '--for=condition=Established', '--timeout=2m');
}

async function verified(run: Run, url: string, sha256: string): Promise<string> {
  const text = await run('curl', ['--silent', '--show-error', '--fail', '--location', url]);
  const found = createHash('sha256').update(text).digest('hex');
  if (found === sha256) return text;
  throw new Error(`${url}: expected SHA-256 ${sha256}, found ${found}; inspect what changed there before you trust it`);
}
