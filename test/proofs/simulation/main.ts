import { availableParallelism } from 'node:os';
import { wholeNumber } from '../../../deploy/terminal/arguments.ts';
import { campaignCommand } from '../../support/tools/campaign-command.ts';
import { campaign } from './campaign.ts';
import { report } from './report.ts';

const help = `npm run test:full [-- [minutes] [options]]

Runs all functions in a simulated cluster, by plans of chance: what users do, what goes wrong, and the order in which
everything happens. Each run is judged by the invariants (test/proofs/invariants). First each fault is injected at every write of
the small journeys, and each of the mistakes in test/proofs/simulation/bugs.ts is looked for; then runs follow until the time is
over or one breaks an invariant, which is then made as small as possible and printed.

Options
  minutes     how long, 1 to 1440; 5 by default
  --seed N    begin with the plans of that seed
  --runs      only the runs by chance
  --workers N threads that run plans, each with seeds of its own; one for each core by default. Each keeps a core busy and
              takes half a gigabyte of memory: name fewer to leave cores to others. The number changes no run
  --json      print the result as one JSON document
  --help      print this

Progress goes to stderr. Exit code: 0 if nothing was broken and each mistake was found, 1 if not, 2 for a wrong option,
130 if it was stopped.

Examples
  npm run test:full
  npm run test:full -- 120 --runs
  npm run test:full -- 1 --seed 7 --workers 1
  npm run --silent test:full -- 10 --json | jq '.violations'
`;

const options = { runs: { type: 'boolean' }, workers: { type: 'string' } } as const;

process.exitCode = await campaignCommand({ name: 'test:full', help, options }, async ({ values, print, ...rest }) => {
  const result = await campaign({
    ...rest,
    workers: wholeNumber('--workers', String(values.workers ?? availableParallelism()), 1, 256),
    onlyRuns: values.runs === true,
  });
  print(result, report(result));
  return result.ok;
});
