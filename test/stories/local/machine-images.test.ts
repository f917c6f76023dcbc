import { stories } from '../machine-images.ts';
import { runLocally } from '../run-locally.ts';

runLocally("a machine's image", stories, {
  quick: [
    'a machine that comes before its image: the image is made from its template and downloaded, once',
    'without mode and template a machine waits for its image, and goes on when it comes',
  ],
});
