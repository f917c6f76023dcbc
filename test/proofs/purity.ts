import { dirname, join } from 'node:path/posix';

/** One import of a file: where it stands, what it names, whether only types cross. */
export interface Import {
  line: number;
  /** A path from the project's root, or the name of a package. */
  from: string;
  isPackage: boolean;
  isType: boolean;
  names: string;
}

const statement =
  /^import\s*(?=['"])['"](?<alone>[^'"\n]+)|^(?:import\s|export\s+(?:type\s*)?(?=[*{]))(?<names>[^;'"]*?)\sfrom\s*['"](?<stated>[^'"\n]+)|\bimport\(\s*['"](?<called>[^'"\n]+)/gm;

/** Comments, quoted strings and templates. */
const words = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
const blank = (text: string) => text.replace(/[^\n]/g, ' ');

/** The imports and re-exports of a file, read from its text. */
export function importsOf(path: string, text: string): Import[] {
  const code = text.replace(words, (found) => (/^['"]/.test(found) ? found : blank(found)));
  return [...code.matchAll(statement)].map((match) => {
    const { names = '', alone, stated, called } = match.groups ?? {};
    const from = alone ?? stated ?? called ?? '';
    const isPackage = !from.startsWith('.');
    return {
      line: lineAt(text, match.index),
      from: isPackage ? from : join(dirname(path), from),
      isPackage,
      isType: isTypeOnly(names),
      names: names.trim(),
    };
  });
}

const isTypeOnly = (names: string) =>
  /^\s*type\b/.test(names) ||
  (names.includes('{') &&
    names
      .replace(/[{}\s]/g, ' ')
      .split(',')
      .every((name) => /^\s*(type\s|$)/.test(name)));

const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length;

/** The rules and kinds in shared: all of it but the shell and the declaration. */
const pureShared = /^shared\/(?!runtime\/|function\.ts$)/;

/** All of deploy but the cluster in one process, which only tests, `npm start` and `npm run demo` need. */
const shipped = /^deploy\/(?!local\/)/;

/** What the files of a place may import: the first row whose place fits the file counts. Tests may import anything. */
const layers: readonly { place: RegExp; may: readonly RegExp[]; rule: string }[] = [
  { place: /^test\/|\.test\.ts$/, may: [/./], rule: '' },
  {
    place: /^deploy\/generate\/registry\.ts$/,
    may: [
      shipped,
      /^(crds|functions|knative)\//,
      /^deploy\/local\/eventing\/deviations-table\.ts$/,
      /^test\/proofs\/(contract\/deviations|recordings\/comparisons)-table\.ts$/,
    ],
    rule: 'deploy without deploy/local, crds, functions, knative, and three tables of READMEs',
  },
  { place: /^deploy\/local\/start\.ts$/, may: [/^(deploy|shared|functions|knative)\//], rule: 'no test' },
  {
    place: /^deploy\/(image\/main|image\/bundle|gateway\/main)\.ts$/,
    may: [shipped, /^(shared|functions|knative)\//],
    rule: 'neither deploy/local nor test',
  },
  {
    place: /^deploy\/production\//,
    may: [shipped, /^(shared|knative|crds)\//, /^package\.json$/],
    rule: 'deploy without deploy/local, shared, knative, crds and package.json',
  },
  {
    place: /^deploy\/local\//,
    may: [/^(deploy|shared)\//, /^knative\/plural\.ts$/],
    rule: 'deploy, shared and plural.ts of knative',
  },
  {
    place: /^deploy\//,
    may: [shipped, /^shared\//, /^knative\/(plural|functions)\.ts$/, /^package\.json$/],
    rule: 'deploy without deploy/local, shared, plural.ts and functions.ts of knative, and package.json',
  },
  { place: /^knative\//, may: [/^(knative|shared|functions)\//], rule: 'knative, shared and functions' },
  { place: /^crds\//, may: [/^(crds|shared)\//], rule: 'crds and shared' },
  { place: /^shared\/kinds\//, may: [/^shared\/kinds\//], rule: 'shared/kinds' },
  { place: pureShared, may: [pureShared], rule: 'shared without shared/runtime, and types of shared/function.ts' },
  { place: /^shared\//, may: [/^shared\//, /^package\.json$/], rule: 'shared: it knows no function' },
  { place: /^functions\//, may: [/^shared\//], rule: 'shared and its own folder: functions never call functions' },
];

/** What a pure file may import beside its own folder; of shared/function.ts only types. */
const pureMay = [pureShared];
/** The packages a pure file may use, and what of them. */
const purePackages: Readonly<Record<string, RegExp>> = {
  'ipaddr.js': /./,
  zod: /./,
  yaml: /^\{ (stringify|parseDocument) \}$/,
  standardwebhooks: /^\{ Webhook \}$/,
  'node:crypto': /^\{ ((createPrivateKey|createPublicKey|hash|hkdfSync|timingSafeEqual)(, )?)+ \}$/,
};

/** What makes a decision depend on more than what was observed. */
const impure: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\b/g, 'Date.now'],
  [/\bnew Date(?!\s*\(\s*[^\s)])/g, 'new Date without an argument'],
  [/(?<!\bnew )\bDate\(/g, 'Date()'],
  [/\bMath\.random\b/g, 'Math.random'],
  [/\bprocess\b(?=\s*[.?[])/g, 'process'],
  [/\b(await|async|fetch|globalThis|performance|Promise|console)\b/g, ''],
  [/\b(setTimeout|setInterval|setImmediate|queueMicrotask|randomUUID|randomBytes|getRandomValues)\b/g, ''],
  [/\bimport\s*\(/g, 'import()'],
];

/**
 * Every place where the tree breaks its one import rule, or a pure file (a decide.ts, what it imports from its own folder,
 * shared without shared/runtime) reads a clock, chance, the network or its process; as "file:line what". Takes path → text.
 */
export function breachesOf(sources: ReadonlyMap<string, string>): string[] {
  const pure = pureFilesOf(sources);
  return [...sources].flatMap(([path, text]) => {
    const imports = importsOf(path, text);
    const breaches = [
      ...imports.map((found) => layerBreach(path, found)),
      ...(pure.has(path) ? [...imports.map((found) => pureBreach(path, found)), ...impurities(text)] : []),
    ];
    return breaches.filter((found) => found !== undefined).map(({ line, what }) => `${path}:${line} ${what}`);
  });
}

interface Breach {
  line: number;
  what: string;
}

function layerBreach(path: string, { line, from, isPackage, isType }: Import): Breach | undefined {
  const layer = layers.find(({ place }) => place.test(path));
  if (isPackage || !layer || isOwn(path, from) || layer.may.some((may) => may.test(from))) return undefined;
  if (isType && from === 'shared/function.ts' && pureShared.test(path)) return undefined;
  return { line, what: `imports ${from}; may import: ${layer.rule}` };
}

function pureBreach(path: string, { line, from, isPackage, isType, names }: Import): Breach | undefined {
  const isAllowed = isPackage
    ? purePackages[from]?.test(names)
    : isOwn(path, from) || pureMay.some((may) => may.test(from)) || (isType && from === 'shared/function.ts');
  return isAllowed ? undefined : { line, what: `is pure and imports ${names} from ${from}`.replace(/\s+/g, ' ') };
}

/** Of the same folder; a function's folder may have folders. */
const isOwn = (path: string, from: string) => dirname(path) !== '.' && folderOf(from) === folderOf(path);

const folderOf = (path: string) => /^functions\/[^/]+(?=\/)/.exec(path)?.[0] ?? dirname(path);

function impurities(text: string): Breach[] {
  // Templates stay, since they can hold code.
  const code = text.replace(words, (found) => (found.startsWith('`') ? found : blank(found)));
  return impure.flatMap(([pattern, what]) =>
    [...code.matchAll(pattern)].map((match) => ({
      line: lineAt(code, match.index),
      what: `is pure and uses ${what || match[0]}`,
    })),
  );
}

/** The files that have to be pure: shared without shared/runtime, every decide.ts, and what a decide.ts imports from its own folder. */
export function pureFilesOf(sources: ReadonlyMap<string, string>): Set<string> {
  const pure = new Set<string>();
  const add = (path: string) => {
    const text = sources.get(path);
    if (text === undefined || pure.has(path) || path === 'shared/function.ts') return;
    pure.add(path);
    for (const { from } of importsOf(path, text)) if (isOwn(path, from)) add(from);
  };
  for (const path of sources.keys()) {
    if ((pureShared.test(path) && !path.endsWith('.test.ts')) || /^functions\/[^/]+\/decide\.ts$/.test(path)) add(path);
  }
  return pure;
}

/** Every circle of imports, types included, as the paths in order. Takes path → text. */
export function circlesOf(sources: ReadonlyMap<string, string>): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const visit = (path: string, way: readonly string[]) => {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path]);
    const text = sources.get(path);
    if (text === undefined || done.has(path)) return;
    done.add(path);
    for (const { from, isPackage } of importsOf(path, text)) if (!isPackage) visit(from, [...way, path]);
  };
  for (const path of sources.keys()) visit(path, []);
  return circles;
}
