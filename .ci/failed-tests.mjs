// Prints the failed tests of a Vitest JSON report, a line each: file, name, and the first words of what went wrong.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const longest = 300;
const firstLine = (text) => (text ?? '').split('\n', 1)[0];
// A run that was ended leaves no report.
const { testResults } = existsSync(process.argv[2])
  ? JSON.parse(readFileSync(process.argv[2], 'utf8'))
  : { testResults: [] };
for (const { name, status, message, assertionResults } of testResults) {
  const file = relative(process.cwd(), name);
  const failed = assertionResults.filter((test) => test.status === 'failed');
  const lines = failed.map((test) => `${file}: ${test.fullName}: ${firstLine(test.failureMessages[0])}`);
  // A file that doesn't load has no tests to name.
  if (failed.length === 0 && status === 'failed') lines.push(`${file}: ${firstLine(message)}`);
  for (const line of lines) console.log(line.slice(0, longest));
}
