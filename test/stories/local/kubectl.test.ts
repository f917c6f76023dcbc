import { stories } from '../kubectl.ts';
import { runLocallyWithKubectl } from '../run-locally.ts';

await runLocallyWithKubectl("a person's day", stories, {
  quick: ["a person's day: get, wide, wait, describe, annotate, events, delete"],
});
