import { stories } from '../journeys/machine-failures.ts';
import { runLocally } from '../journeys/run-locally.ts';

runLocally('what fails a machine', stories, {
  quick: ['a machine that ends as soon as it starts is Failed from the third time on, and Ready when it holds'],
});
