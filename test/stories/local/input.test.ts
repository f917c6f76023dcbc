import { subjects } from '../all.ts';
import { hasCurl, postWithFetch, storiesWith } from '../preload.ts';
import { runLocally } from '../run-locally.ts';

const isCurlThere = await hasCurl();
if (!isCurlThere) console.warn('no curl on the PATH: all stories of preload run with fetch instead');

const { input } = subjects;
const withFetch = storiesWith('fetch', postWithFetch);
const first = withFetch.slice(0, 1).map((story) => ({ ...story, quick: false }));
await runLocally({ ...input, preload: isCurlThere ? [...input.preload, ...first] : withFetch });
