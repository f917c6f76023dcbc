import { definitions, leaving, platform } from './definitions.ts';
import { eventing, subscribers, workloads } from './eventing.ts';
import type { Finding } from './finding.ts';
import type { Installation } from './installation.ts';
import { openStack } from './openstack.ts';
import { fences, permissions } from './permissions.ts';
import { policyFindings } from './policy.ts';
import { slots } from './slots.ts';
import { classes, profiles } from './storage.ts';

/** In this order, for the first may be the cause of the rest. */
const checks: readonly ((installation: Installation) => Finding[])[] = [
  platform,
  leaving,
  definitions,
  permissions,
  fences,
  workloads,
  eventing,
  subscribers,
  classes,
  profiles,
  policyFindings,
  slots,
  openStack,
];

/** Everything that is not as it should be. */
export const findingsOf = (installation: Installation): Finding[] => checks.flatMap((check) => check(installation));

/** Each finding with what was expected, what was found, and its cure. */
export function findingLines(findings: readonly Finding[], { shipped, images }: Installation): string[] {
  const are = shipped.length === 1 ? 'is' : 'are';
  const looked = `Looked at ${count(shipped, 'object')} that ${are} shipped, and ${count(images, 'image')}.`;
  if (findings.length === 0) return [`${looked} Nothing found.`];
  return [
    `${looked} ${count(findings, 'finding')}; the first may be the cause of others.`,
    ...findings.flatMap(({ name, expected, found, cure }) => [
      '',
      name,
      `  expected  ${expected}`,
      `  found     ${found}`,
      `  cure      ${cure}`,
    ]),
  ];
}

const count = ({ length }: readonly unknown[], what: string) => `${length} ${what}${length === 1 ? '' : 's'}`;
