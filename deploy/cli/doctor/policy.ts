import { publicationKeyForm, publicationKeysRef } from '../../../shared/images/signature.ts';
import { downloadOf, missingLine } from '../../../shared/images/sources.ts';
import { makeSecret } from '../../../shared/kinds/core/secret.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import { type Policy, parsePolicy } from '../../../shared/policy.ts';
import { editPolicy } from '../../../shared/reasons/common.ts';
import { makeSiteKey, siteKeyForm, siteKeyRef } from '../../../shared/workspaces/site-key.ts';
import { leftOutOf } from '../left-out.ts';
import { nearestOf } from '../nearest.ts';
import { describeStray, policyView } from '../policy-view.ts';
import { makePublicationKey } from '../secrets.ts';
import type { Finding } from './finding.ts';
import type { Installation } from './installation.ts';

/** Keys that do not parse, keys that no function reads, and objects that the policy names and that do not exist. */
export function policyFindings(installation: Installation): Finding[] {
  const { policy, namespaces, secrets, images, machines, hasPublicationKey, hasSiteKey } = installation;
  const parsed = parsePolicy(policy);
  const { values, faults } = parsed;
  const { unknown } = policyView(policy);
  const absent = values.imageNamespaces.filter((name) => !namespaces.has(name));
  return [
    ...faults.map((fault) => ({
      name: `Policy ${fault.key}`,
      expected: fault.expected,
      found: `${JSON.stringify(fault.found)}: nothing that depends on it starts`,
      remedy: `ot-functions policy set ${fault.key} VALUE`,
    })),
    ...unknown.map((stray) => ({
      name: `Policy ${stray.key}`,
      expected: stray.meant ?? 'a key that a function reads',
      found: stray.key,
      remedy: describeStray(stray).split(' Remove it: ')[1] ?? '',
    })),
    ...(values.concurrency === 0 && !faults.some(({ key }) => key === 'concurrency')
      ? [
          {
            name: 'Policy concurrency',
            expected: 'a queue that moves',
            found: '0: it is paused',
            remedy: 'ot-functions resume',
          },
        ]
      : []),
    ...absent.map((name) => {
      const meant = nearestOf(name, [...namespaces]);
      return {
        name: 'Policy imageNamespaces',
        expected: `Namespace ${name}`,
        found: meant ? `none; was ${meant} meant?` : 'none',
        remedy: meant ? editPolicy : `kubectl create namespace ${name}`,
      };
    }),
    ...leftOutOf(parsed, machines).map(({ namespace, users, command }) => ({
      name: 'Policy imageNamespaces',
      expected: `Namespace ${namespace}: ${users}`,
      found: 'none: they do not keep these from being deleted',
      remedy: command,
    })),
    ...sourceFindings(parsed, images),
    ...[...secrets].flatMap(([key, isThere]) => secretFinding(key, isThere)),
    ...(values.unsignedPublications === 'Refuse' && hasPublicationKey === false ? [noPublicationKey] : []),
    ...(values.ansibleCredentials && hasSiteKey === false ? [noSiteKey] : []),
  ];
}

const noPublicationKey: Finding = {
  name: `Secret ${keyOf(publicationKeysRef)}`,
  expected: `a key to verify publications with (${publicationKeyForm})`,
  found: 'none: each publication of a pipeline is refused',
  remedy: makePublicationKey,
};

const noSiteKey: Finding = {
  name: `Secret ${keyOf(siteKeyRef)}`,
  expected: `${siteKeyForm}, to derive the keys of workspaces from`,
  found: 'none: machines with deploy roles are not made',
  remedy: makeSiteKey,
};

/** The lines of allowedSources that images wait for, each once. */
function sourceFindings(policy: Policy, images: readonly VMDiskImage[]): Finding[] {
  const waiting = images.filter(({ status }) => status?.phase === 'Failed' || status?.phase === 'Queued');
  const lines = Map.groupBy(waiting, (image) => missingLine(policy, downloadOf(image))?.line);
  return [...lines].flatMap(([line, [image]]) =>
    line && image
      ? [
          {
            name: 'Policy allowedSources',
            expected: `the line "${line}"`,
            found: `none, and VMDiskImage ${keyOf(image.metadata)} asks for it`,
            remedy: `${editPolicy}   # if it may be downloaded`,
          },
        ]
      : [],
  );
}

function secretFinding(key: string, isThere: boolean | undefined): Finding[] {
  if (isThere) return [];
  const [namespace = '', name = ''] = key.split('/');
  const found = isThere === undefined ? 'no permission to look' : 'none: images that name it wait for it';
  const remedy =
    isThere === undefined ? `kubectl auth can-i get secrets -n ${namespace}` : makeSecret({ namespace, name });
  return [{ name: `Secret ${key}`, expected: 'that it exists', found, remedy }];
}
