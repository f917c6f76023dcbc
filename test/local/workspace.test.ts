import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/workspace.ts';

runLocally('a lab', stories, {
  quick: ['from apply to Ready: machine, container and network of a lab, with one status'],
});
