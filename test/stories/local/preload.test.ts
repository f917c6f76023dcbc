import { hasCurl, postWithCurl, postWithFetch, storiesWith } from '../preload.ts';
import { runLocally } from '../run-locally.ts';

const isCurlThere = await hasCurl();
if (!isCurlThere) console.warn('no curl on the PATH: all stories of preload run with fetch instead');

const [first, ...others] = storiesWith('curl', postWithCurl);
const withFetch = storiesWith('fetch', postWithFetch);
const stories = isCurlThere && first ? [first, ...others, ...withFetch.slice(0, 1)] : withFetch;
runLocally('preload', stories, { quick: stories.slice(0, 1).map(({ name }) => name) });
