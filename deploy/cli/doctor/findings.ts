import { oneLine } from '../../../shared/sentence.ts';
import { beingDeleted, definitions, platform } from './definitions.ts';
import { eventing, subscribers, workloads } from './eventing.ts';
import type { Finding } from './finding.ts';
import type { Installation } from './installation.ts';
import { openStack } from './openstack.ts';
import { admissionPolicies, permissions } from './permissions.ts';
import { policyFindings } from './policy.ts';
import { slots } from './slots.ts';
import { classes, profiles } from './storage.ts';

/** In this order, because the first finding may be the cause of the others. */
const checks: readonly ((installation: Installation) => Finding[])[] = [
  platform,
  beingDeleted,
  definitions,
  permissions,
  admissionPolicies,
  workloads,
  eventing,
  subscribers,
  classes,
  profiles,
  policyFindings,
  slots,
  openStack,
];

/** Every problem of the installation. */
export const findingsOf = (installation: Installation): Finding[] => checks.flatMap((check) => check(installation));

/** Each finding with what was expected, what was found, and its remedy. */
export function findingLines(findings: readonly Finding[], { shipped, images }: Installation): string[] {
  const checked = `Checked ${count(shipped, 'installed object')} and ${count(images, 'image')}.`;
  if (findings.length === 0) return [`${checked} Nothing found.`];
  return [
    `${checked} ${count(findings, 'finding')}; the first may be the cause of others.`,
    ...findings.flatMap(({ name, expected, found, remedy }) => [
      '',
      name,
      `  expected  ${oneLine(expected)}`,
      `  found     ${oneLine(found)}`,
      `  remedy    ${oneLine(remedy)}`,
    ]),
  ];
}

const count = ({ length }: readonly unknown[], what: string) => `${length} ${what}${length === 1 ? '' : 's'}`;
