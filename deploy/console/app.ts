import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { secureHeaders } from 'hono/secure-headers';
import { streamSSE } from 'hono/streaming';
import { keyOf } from '../../shared/kinds/resource.ts';
import { TooManyStrangers, type Viewed, type Viewer, viewedKinds } from './authorize.ts';
import { happened } from './happened.ts';
import type { Asset } from './page/assets.ts';
import { show } from './show.ts';
import type { Explanation } from './view.ts';
import { maySee, maySeeObject, sightOf } from './visible.ts';
import type { Watched } from './watch-cluster.ts';

interface ConsolePorts {
  watched: Watched;
  /** The user of a token; undefined if the cluster does not know the token. */
  authorize(token: string): Promise<Viewer | undefined>;
  /** The user without a token; by default none, and the page asks for a token. */
  anonymous?: Viewer | undefined;
  assets: ReadonlyMap<string, Asset>;
  log(level: 'info' | 'warn', message: string): void;
}

const cookie = 'ot-console';

const maxForm = 16 * 1024;

/**
 * The page and its data. Read-only: nothing here writes an object. A user without a valid token sees a form that asks for
 * one; a user with a token sees the objects that this user may list.
 */
export function consoleApp({ watched, authorize, anonymous, assets, log }: ConsolePorts): Hono {
  const app = new Hono();
  app.get('/health/:probe', (c) => c.text('ok'));
  // Without a token the page is its machine's own: any other host is a site whose name now leads here, and whose scripts would read it.
  if (anonymous)
    app.use(async (c, next) => {
      const { hostname } = new URL(c.req.url);
      if (['127.0.0.1', 'localhost', '[::1]'].includes(hostname)) return next();
      return c.text('expected the host 127.0.0.1 or localhost', 421);
    });
  app.use(
    secureHeaders({
      contentSecurityPolicy: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'"],
        connectSrc: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        baseUri: ["'none'"],
      },
      referrerPolicy: 'no-referrer',
      xFrameOptions: 'DENY',
    }),
  );
  const asset = (c: Context, name: string, status: 200 | 401 = 200) => {
    const found = assets.get(name);
    if (!found) return c.notFound();
    return c.body(found.text, status, { 'content-type': found.type, 'cache-control': 'no-cache' });
  };
  for (const name of ['console.css', 'console.js', 'login.js', 'icon.svg']) app.get(`/${name}`, (c) => asset(c, name));

  app.post(
    '/login',
    bodyLimit({ maxSize: maxForm, onError: (c) => c.text('expected a token, found more than one can be', 413) }),
    async (c) => {
      const { token } = await c.req.parseBody();
      const viewer = typeof token === 'string' && token.trim() !== '' ? await authorize(token.trim()) : undefined;
      if (!viewer) {
        log('warn', 'refused a token that the cluster does not know');
        return c.redirect('/?refused', 303);
      }
      const isPlain = new URL(c.req.url).protocol === 'http:' && c.req.header('x-forwarded-proto') !== 'https';
      setCookie(c, cookie, (token as string).trim(), {
        httpOnly: true,
        sameSite: 'Strict',
        path: '/',
        secure: !isPlain,
      });
      return c.redirect(`/${new URL(c.req.url).search}`, 303);
    },
  );
  app.post('/logout', (c) => {
    deleteCookie(c, cookie, { path: '/' });
    return c.redirect('/', 303);
  });

  app.get('/', async (c) => {
    const viewer = await viewerOf(c);
    return viewer ? asset(c, 'console.html') : asset(c, 'login.html', 401);
  });

  app.get('/changes', async (c) => {
    const viewer = await viewerOf(c);
    if (!viewer) return c.json({ expected: 'a token of this cluster' }, 401);
    return streamSSE(c, async (stream) => {
      const over = Promise.withResolvers<void>();
      stream.onAbort(() => over.resolve());
      const warn = (message: string) => log('warn', message);
      await show({
        stream,
        watched,
        viewer,
        mayLogOut: viewer !== anonymous,
        over: over.promise,
        again: () => viewerOf(c),
        warn,
      });
    });
  });

  app.get('/happened/:kind/:namespace/:name', async (c) => {
    const viewer = await viewerOf(c);
    if (!viewer) return c.json({ expected: 'a token of this cluster' }, 401);
    const { kind, namespace, name } = c.req.param();
    if (!isViewed(kind)) return c.json({ expected: Object.keys(viewedKinds).join(', '), found: kind }, 404);
    const where = kind === 'workspaces' ? undefined : namespace;
    const sight = await sightOf(viewer, watched.view());
    if (!maySeeObject(kind, where, sight))
      return c.json({ expected: `the right to list ${kind} in ${where ?? 'the cluster'}` }, 403);
    const key = keyOf({ namespace: where, name });
    const events = watched.eventsOf(viewedKinds[kind], where, name);
    const happenings = happened(kind === 'images' ? watched.image(key) : undefined, events);
    const why = watched.why({ section: kind, key }, (section, other) => maySee(section, other, sight));
    return c.json({ why: why ?? { steps: [], help: '', commands: [] }, happenings } satisfies Explanation);
  });

  /** A browser's cookie; a proxy's or a script's header. */
  const viewerOf = async (c: Context): Promise<Viewer | undefined> => {
    const token = /^Bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? getCookie(c, cookie);
    return token ? authorize(token) : anonymous;
  };
  app.onError((error, c) => {
    log('warn', String(error));
    if (error instanceof TooManyStrangers) {
      c.header('retry-after', String(error.waitSeconds));
      return c.json({ expected: `fewer unknown tokens: try again in ${error.waitSeconds} s` }, 429);
    }
    return c.json({ expected: "an answer from the cluster's API server, found none: try again in a moment" }, 503);
  });
  return app;
}

const isViewed = (kind: string): kind is Viewed => Object.hasOwn(viewedKinds, kind);
