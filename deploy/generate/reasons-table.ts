import { failureReasons } from '../../shared/images/failure-reasons.ts';
import { reasonTable, rowOf } from '../../shared/reasons/table.ts';
import { markdownTable } from './markdown-table.ts';

export const reasonsPage = () =>
  [
    '# Reasons\n',
    'Generated from `shared/reasons/`. What the reason of a condition, a status or an Event means, and what to do. `ot-functions why` prints',
    'the commands with the names of the object in them. A reason that is not listed is of the system that the message names.\n',
    ...Object.entries(reasonTable).flatMap(([about, section]) => [`## ${about}\n`, `${table(Object.keys(section))}\n`]),
  ].join('\n');

/** The reasons that the alert of a runbook may have, for the sections of the runbooks. */
export const reasonRows = () =>
  Object.entries(runbooks).map(([name, words]) => ({
    page: `deploy/monitoring/runbooks/${name}.md`,
    name: 'reasons',
    text: table(words),
  }));

const hasHelp = (word: string) => rowOf(word)?.help !== '';
const shared = [
  'ImageMissing',
  'NetworkMissing',
  'MultusMissing',
  'NameTaken',
  'Forbidden',
  'Rejected',
  'InvalidPolicy',
];

/** What comes of a workspace's times is no failure. */
const ofTimes = ['WillBeLate', 'Late', 'HibernatesSoon', 'Hibernated', 'ExpiresSoon', 'AnnotationInvalid'];

const runbooks: Readonly<Record<string, readonly string[]>> = {
  OtImageFailed: failureReasons,
  OtMachinesFailed: [
    ...Object.keys(reasonTable.VirtualMachine).filter(hasHelp),
    ...['CloneFailed', 'NetworkNotAllowed', ...shared],
  ],
  OtWorkspacesFailed: [
    ...Object.keys(reasonTable.Workspace).filter((word) => hasHelp(word) && !ofTimes.includes(word)),
    ...['ImageFailed', ...shared],
  ],
  OtWorkspacesLate: ofTimes.slice(0, 2),
  OtOpenStackFails: [
    ...Object.keys(reasonTable.OpenStack).filter(hasHelp),
    'CredentialsMissing',
    'ImageMissing',
    'NetworkMissing',
  ],
};

const table = (words: readonly string[]) =>
  markdownTable(
    ['reason', 'meaning', 'what to do'],
    words.map((word) => {
      const { means = '', help = '', run = [] } = rowOf(word) ?? {};
      return [`\`${word}\``, means, [help, ...run.map((command) => `\`${command}\``)].filter(Boolean).join('<br>')];
    }),
  );
