import type { Body, Reached } from './command.ts';
import { kindIn, listEverywhere, type TargetKind, targetKinds } from './target.ts';

/** Names of objects, for completion: from the cluster, in the namespace that the command line so far means. */
async function namesOf({ kube, namespace }: Reached, kind: TargetKind | undefined): Promise<string[]> {
  const found = kind ? await listEverywhere(kube, kind, namespace ? { namespace } : {}) : [];
  return [...new Set(found.map(({ metadata }) => metadata.name))].sort();
}

type Complete = NonNullable<Body['complete']>;

export const completeOnly =
  (kind: TargetKind): Complete =>
  async ([before], _, { cluster }) =>
    before === undefined ? namesOf(await cluster(), kind) : [];

export const completeKindAndName: Complete = async ([kind, ...more], _, { cluster }) => {
  if (kind === undefined) return targetKinds;
  return more.length > 0 ? [] : namesOf(await cluster(), kindIn(kind, 'a kind'));
};

/** KIND/NAME */
export const completeNamed: Complete = async (before, current, completing) => {
  if (before.length > 0) return completeKindAndName(before, current, completing);
  const [kind = '', name] = current.split('/');
  if (name === undefined) return targetKinds.map((one) => `${one}/`);
  return (await namesOf(await completing.cluster(), kindIn(kind, 'a kind'))).map((one) => `${kind}/${one}`);
};
