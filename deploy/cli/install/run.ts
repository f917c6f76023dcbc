import { policyRef } from '../../../shared/policy.ts';
import { readPolicyMap } from '../../../shared/runtime/read-policy.ts';
import { exit, type Outcome } from '../command.ts';
import { classFault } from './broker-class.ts';
import { check, isMet } from './check.ts';
import { type Cluster, InstallError } from './cluster.ts';
import { bindingsInImageNamespaces } from './image-namespaces.ts';
import { install } from './install.ts';
import { inventoryOf } from './inventory.ts';
import { type AnyObject, Broker, ConfigMap, workloads } from './kinds.ts';
import { imagesIn, isPlaceholder, placeholder, readShipped, readWanted, repositoryOf, withImage } from './manifests.ts';
import { overlayOf, withOverlay } from './overlay.ts';
import { requirementLines } from './report.ts';
import { runnable } from './skipped.ts';
import { freeObjects, uninstall } from './uninstall.ts';

/** What the command line of one of these commands asks for. */
export interface Options {
  command: 'check' | 'install' | 'upgrade' | 'uninstall';
  timeoutMs: number;
  overlay: string | undefined;
  image: string | undefined;
  /** Lines to add to the policy's allowedSources. */
  allowSource: readonly string[];
  skipCheck: boolean;
  deleteWorkspaces: boolean;
  deleteMachines: boolean;
  deleteImages: boolean;
  deleteCrds: boolean;
  finalizersOnly: boolean;
}

/** Runs a command, which prints a line for each thing that it did. Throws an InstallError if something fails. */
export async function run(cluster: Cluster, options: Options): Promise<Outcome> {
  if (options.command === 'uninstall') return takeDown(cluster, options);
  const overlay = options.overlay ?? (await overlayOf(cluster));
  const named = await readWanted(overlay);
  if (options.image) assertUnnamed(named, options.image);
  const whole = withImage(named, options.image ?? imageFor(await imageOf(cluster)));
  const fault = classFault((await inventoryOf(cluster, { broker: [Broker] })).broker, whole);
  const requirements = await check(cluster, whole);
  const met = isMet(requirements);
  const json = { overlay, isMet: met, requirements };
  for (const line of requirementLines(requirements)) cluster.say(line);
  if (options.command === 'check') return { lines: [], json, code: met ? exit.done : exit.failed };
  if (!met && !options.skipCheck)
    throw new InstallError('something is missing, as ot-functions check says; nothing was installed');
  if (fault) throw new InstallError(fault);
  assertImage(whole);
  cluster.say(`overlay ${overlay}`);
  const objects = await runnable(cluster, withOverlay(whole, overlay));
  await install(cluster, [...objects, ...(await bindingsInImageNamespaces(cluster, objects))]);
  await allowSources(cluster, options.allowSource);
  const lines = ['done: ot-functions status -A shows images, machines and workspaces'];
  return { lines, json, code: exit.done };
}

/** Adds the lines that the policy lacks. If it has no line, prints what that means. */
async function allowSources({ kube, say }: Cluster, lines: readonly string[]): Promise<void> {
  const policy = await readPolicyMap(kube);
  const before = policy?.data?.allowedSources ?? '';
  const added = lines.filter((line) => !before.split('\n').some((one) => one.trim() === line.trim()));
  if (added.length > 0) {
    const allowedSources = [before.trim(), ...added].filter(Boolean).join('\n');
    await kube.patch(ConfigMap, policyRef, { data: { allowedSources } });
    say(`the policy allows ${added.join(', ')}`);
  } else if (before === '') {
    say(
      'the policy allows no sources yet: templates and pipelines can ask for none (--allow-source, or ot-functions doctor)',
    );
  }
}

async function takeDown(cluster: Cluster, options: Options): Promise<Outcome> {
  const shipped = await readShipped();
  if (options.finalizersOnly) {
    await freeObjects(
      cluster,
      shipped.filter(({ kind }) => kind === 'CustomResourceDefinition'),
    );
  } else {
    await uninstall(cluster, { ...options, shipped });
  }
  return { lines: ['done'], json: { done: true }, code: exit.done };
}

/** The current image, so that an upgrade without --image keeps it. */
export async function imageOf(cluster: Cluster): Promise<string | undefined> {
  const { functions } = await inventoryOf(cluster, { functions: workloads });
  return functions.flatMap(imagesIn).find((image) => !isPlaceholder(image));
}

/** In the bundled command line the image of its release; a checkout has none. */
const released = process.env.OT_RELEASED_IMAGE;

/** The image if none is named: the one that runs, unless it is another release of the one that this command line belongs to. */
const imageFor = (running: string | undefined): string | undefined =>
  running === undefined || (released && repositoryOf(running) === repositoryOf(released))
    ? (released ?? running)
    : running;

/** If the overlay names the image, --image would have no effect. */
function assertUnnamed(wanted: readonly AnyObject[], image: string): void {
  const images = [...new Set(wanted.flatMap(imagesIn))];
  if (images.length === 0 || images.some(isPlaceholder)) return;
  throw new InstallError(
    `expected an overlay that leaves the image to --image ${image}, found that the overlay names ${images.join(', ')}; leave out --image, or its \`images:\`. Nothing was installed.`,
  );
}

function assertImage(wanted: readonly AnyObject[]): void {
  const [found] = wanted.flatMap(imagesIn).filter(isPlaceholder);
  if (found === undefined) return;
  throw new InstallError(
    `expected the image of the functions, found only the placeholder ${found}; nothing was installed. Add --image <registry>/${placeholder}:<version>, or name it in an overlay of your own.`,
  );
}
