import { stories } from '../references.ts';
import { runLocally } from '../run-locally.ts';

runLocally('references', stories, {
  quick: ['an image says who uses it right after every machine that comes or goes, and since when nobody does'],
});
