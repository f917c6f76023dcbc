import { runLocally } from '../journeys/run-locally.ts';
import { stories } from '../journeys/workspace-deletion.ts';

runLocally('deletion of labs', stories, {
  quick: ['a child that does not go is said, with who holds it, and the lab goes when it is let go'],
});
