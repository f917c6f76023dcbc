import { stories } from '../machine-failures.ts';
import { runLocally } from '../run-locally.ts';

runLocally('what fails a machine', stories, {
  quick: ['a machine that ends as soon as it starts is Failed from the third time on, and Ready when it holds'],
});
