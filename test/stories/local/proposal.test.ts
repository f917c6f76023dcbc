import { stories } from '../proposal.ts';
import { runLocally } from '../run-locally.ts';

runLocally('what was proposed and asked', stories, {
  quick: ['"VMDIs Exist": a machine whose image is there is Ready on that image, without another download'],
});
