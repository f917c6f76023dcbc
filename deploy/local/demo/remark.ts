import { lineOfQueued, type WatchedImage } from './watched-image.ts';

/** What there is to say of an image beyond its phase, in a few words. */
export function remarkOn(image: WatchedImage, all: Iterable<WatchedImage>): string {
  switch (image.phase) {
    case '':
      return 'applied';
    case 'Queued':
      return `place ${lineOfQueued([...all]).findIndex(({ uid }) => uid === image.uid) + 1} in the queue`;
    case 'Syncing':
      return `attempt ${image.attempts}`;
    case 'Snapshotting':
      return 'downloaded';
    case 'Retrying':
      return image.message;
    case 'Succeeded':
      return 'ready to clone';
    case 'Failed':
      return image.reason;
    default:
      return image.message;
  }
}
