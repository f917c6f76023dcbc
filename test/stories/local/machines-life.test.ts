import { stories } from '../machines-life.ts';
import { runLocally } from '../run-locally.ts';

runLocally('the life of a machine', stories, {
  quick: [
    'from apply to Ready: a machine gets its image, its disk, its logins and its address, and runs',
    'launched before its image is synced, a machine waits with nothing made, and ends Ready without anyone’s hand',
    'a password is in the cloud-init Secret and in no other object, status or Event',
  ],
});
