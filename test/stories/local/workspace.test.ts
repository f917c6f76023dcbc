import { runLocally } from '../run-locally.ts';
import { stories } from '../workspace.ts';

runLocally('a lab', stories, {
  quick: ['from apply to Ready: machine, container and network of a lab, with one status'],
});
