import { readFile } from 'node:fs/promises';
import { campaignCommand } from '../../support/tools/campaign-command.ts';
import { fuzz, runAlone } from './campaign.ts';
import type { Plan } from './plan.ts';
import { report } from './report.ts';

const help = `npm run test:fuzz [-- [minutes] [options]]

Writes objects by chance, as an author with the shipped role \`edit\` could, to local clusters with all functions, and judges what the
functions make of them: no crash, no write outside the author's namespaces but those that the policy grants, no work of over
100 ms of CPU without a pause, no Secret told, no YAML that says what no one wrote. It ends when the time is over or a plan
breaks something, which is then made smaller and printed.

Options
  minutes     how long, 1 to 1440; 5 by default
  --seed N    begin with the plans of that seed
  --plan FILE run only the plan in FILE, as a report printed it
  --json      print the result as one JSON document
  --help      print this

Progress goes to stderr. Exit code: 0 if nothing was broken, 1 if something was, 2 for a wrong option, 130 if it was stopped.

Examples
  npm run test:fuzz
  npm run test:fuzz -- 60 --seed 7
  npm run test:fuzz -- --plan plan.json
  npm run --silent test:fuzz -- 10 --json | jq '.broken'
`;

const options = { plan: { type: 'string' } } as const;

process.exitCode = await campaignCommand({ name: 'test:fuzz', help, options }, async (context) => {
  const { minutes, seed, values, say, print, signal } = context;
  if (typeof values.plan === 'string') {
    const violations = await runAlone(JSON.parse(await readFile(values.plan, 'utf8')) as Plan);
    const lines = violations.map(({ judge, message }) => `${judge}: ${message}`);
    print(violations, [...lines, `${violations.length} violations`]);
    return violations.length === 0;
  }
  const result = await fuzz({ untilMs: Date.now() + minutes * 60_000, seed, say, signal });
  print(result, report(result));
  return result.ok;
});
