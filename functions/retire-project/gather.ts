import * as z from 'zod';
import type { Context } from '../../shared/function.ts';
import { Namespace } from '../../shared/kinds/core/namespace.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { listImages } from '../../shared/kinds/openstack/image.ts';
import { listNetworks } from '../../shared/kinds/openstack/network.ts';
import { installationTag, listProjects, Project } from '../../shared/kinds/openstack/project.ts';
import { listServersOf } from '../../shared/kinds/openstack/server.ts';
import { listVolumesOf } from '../../shared/kinds/openstack/volume.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { onClouds } from '../../shared/runtime/openstack/by-namespace.ts';
import { type Cloud, credentialsName } from '../../shared/runtime/openstack/clouds.ts';
import { type Observed, retiredAmong } from './decide.ts';

export async function gather(context: Context): Promise<Observed[]> {
  const { kube, refusals } = context;
  const account = await kube.get(Secret, { namespace: operatorNamespace, name: credentialsName });
  if (!account) return [];
  const operator = await kube.get(Namespace, { name: operatorNamespace });
  const tag = installationTag(operator?.metadata.uid ?? '');
  const seen = await onClouds(
    context,
    [account],
    (cloud) => readRetired(cloud, kube, tag),
    (_, cloud) => ('fault' in cloud ? [] : cloud),
  );
  return seen.map((retired) => ({ refusals, account, retired }));
}

const Thing = z.looseObject({ id: z.string() });

async function readRetired(cloud: Cloud, kube: Context['kube'], tag: string): Promise<Observed['retired']> {
  // Projects first: a namespace that is created between the two reads has no project yet.
  const projects = await cloud.list(listProjects(tag), 'projects', Project);
  return Promise.all(
    retiredAmong(projects, await kube.list(Namespace)).map(async (project) => {
      const things = await Promise.all([
        cloud.list(listServersOf(project.id), 'servers', Thing),
        cloud.list(listVolumesOf(project.id), 'volumes', Thing),
        cloud.list(listNetworks(project.id), 'networks', Thing),
        cloud.list(listImages({ owner: project.id }), 'images', Thing),
      ]);
      return { ...project, isEmpty: things.flat().length === 0 };
    }),
  );
}
