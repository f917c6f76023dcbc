import { optionsOf, UsageError } from '../terminal/arguments.ts';
import { CommandError, run } from './command.ts';
import { cluster } from './steps.ts';
import { lackingTools } from './tools.ts';

const help = `npm run kind:down

Deletes the cluster that npm run kind:up created, with everything in it. Without a cluster it does nothing.

Options
  --help   print this

Exit code: 0, 1 if a tool is missing or it did not work, 2 for a wrong option.
`;

async function main(args: readonly string[]): Promise<number> {
  const { help: isHelp } = optionsOf('npm run kind:down --', args, { help: { type: 'boolean', short: 'h' } });
  if (isHelp) {
    process.stdout.write(help);
    return 0;
  }
  const lacking = await lackingTools(run, ['docker', 'kind']);
  for (const line of lacking) console.error(line);
  if (lacking.length > 0) return 1;
  await run('kind', ['delete', 'cluster', '--name', cluster.name]);
  console.log(`The cluster ${cluster.name} is deleted.`);
  return 0;
}

process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof UsageError || error instanceof CommandError)) throw error;
  console.error(error.message);
  return error instanceof UsageError ? 2 : 1;
});
