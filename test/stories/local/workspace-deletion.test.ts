import { runLocally } from '../run-locally.ts';
import { stories } from '../workspace-deletion.ts';

runLocally('deletion of labs', stories, {
  quick: ['a child that does not go is said, with who holds it, and the lab goes when it is let go'],
});
