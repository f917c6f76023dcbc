import { type Body, exit } from './command.ts';
import { findingLines, findingsOf } from './doctor/findings.ts';
import { readInstallation } from './doctor/installation.ts';

/** Checks the whole installation. */
export const doctor: Body = {
  words: '',
  options: {},
  details: [
    'Checks versions, CRDs, permissions, functions, Broker, Triggers against the subscribers of its channel, sources, storage',
    'classes, StorageProfiles, policy, slots and Secrets (only whether they exist). It changes nothing.',
    'Exit codes: 0 nothing found · 1 findings.',
  ],
  examples: ['doctor', 'doctor -o json'],
  run: async ({ cluster, nowMs }) => {
    const installation = await readInstallation(await cluster(), nowMs);
    const findings = findingsOf(installation);
    return {
      lines: findingLines(findings, installation),
      json: { findings },
      code: findings.length > 0 ? exit.failed : exit.done,
    };
  },
};
