import { runLocally } from '../run-locally.ts';
import { stories } from '../taken-names.ts';

runLocally('taken names', stories, {
  quick: ["somebody else's DataVolume of the name that an attempt wants is left alone, and the image says so"],
});
