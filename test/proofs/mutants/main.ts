import { optionsOf, UsageError } from '../../../deploy/terminal/arguments.ts';
import { endWithReader, lookOf } from '../../../deploy/terminal/output.ts';
import { tableLines } from '../../../deploy/terminal/table.ts';
import { type Mutant, mutants } from './mutants.ts';
import { runTests, type Tried } from './try-mutant.ts';

const help = `npm run test:mutants [-- options]

Puts each mistake of test/proofs/mutants/mutants.ts in, one at a time, and runs the test files that have to notice it: one of their
tests has to fail by an assertion. No file is changed: a mistake is put in as the file is loaded. Takes a few seconds each.

Options
  --only TEXT   only those whose file or whose loss has the text
  --help        print this

Progress goes to stderr. Exit code: 0 if all are found, 1 if not, 2 for a wrong option.
`;

async function main(): Promise<number> {
  try {
    const options = optionsOf('npm run test:mutants --', process.argv.slice(2), {
      only: { type: 'string', default: '' },
      help: { type: 'boolean', short: 'h' },
    });
    if (options.help) {
      process.stdout.write(help);
      return 0;
    }
    const chosen = mutants.filter(({ file, loses }) => `${file} ${loses}`.includes(options.only));
    if (chosen.length === 0)
      throw new UsageError(`Expected a text of some mistake, found ${JSON.stringify(options.only)}.`);
    return await tryAll(chosen);
  } catch (error) {
    process.stderr.write(`test:mutants: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function tryAll(chosen: readonly Mutant[]): Promise<number> {
  const files = [...new Set(chosen.flatMap(({ tests }) => tests))];
  process.stderr.write(`with no mistake in: ${files.length} files\n`);
  const { failed, fault } = await runTests(files);
  if (fault ?? failed)
    throw new Error(`Expected the tests to pass with no mistake in, found ${fault ?? failed?.name}.`);
  const tried: (readonly [Mutant, Tried])[] = [];
  for (const mutant of chosen) {
    const result = await runTests(mutant.tests, mutant);
    tried.push([mutant, result]);
    process.stderr.write(`${tried.length}/${chosen.length} ${verdictOf(result)}: ${mutant.loses}\n`);
  }
  const look = lookOf(process.stdout);
  const columns = [
    { title: 'RESULT' },
    { title: 'SECONDS', align: 'right' as const },
    { title: 'FILE' },
    { title: 'WHAT A USER LOSES' },
    { title: 'NOTICED BY' },
  ];
  const rows = tried.map(([{ file, loses }, result]) => [
    verdictOf(result),
    result.seconds.toFixed(1),
    file,
    loses,
    result.fault ?? result.failed?.name ?? '',
  ]);
  const survived = tried.filter(([, result]) => verdictOf(result) !== 'found').length;
  const sum = `${tried.length - survived} found, ${survived} survived`;
  process.stdout.write(`${[...tableLines(columns, rows, look), '', sum].join('\n')}\n`);
  return survived === 0 ? 0 : 1;
}

const verdictOf = ({ fault, failed }: Tried) => (fault === undefined && failed?.isByAssertion ? 'found' : 'survived');

endWithReader(process.stdout);
process.exitCode = await main();
