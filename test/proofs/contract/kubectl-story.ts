import { aWidget } from './case.ts';
/** One kubectl command. In arguments and input `{ns}` is the story's own namespace. */
export interface Command {
  args: string[];
  /** Objects for `-f -`. */
  input?: unknown[];
  /** The command that edits a file, for `kubectl edit`. */
  editor?: string;
  /** Only lines like this are compared. */
  only?: RegExp;
  /** Run again until a line is like this. */
  eventually?: RegExp;
  /** What happens once it watches; with `lines`, it is ended when it has printed as many. */
  meanwhile?: { commands: string[][]; lines?: number };
}

/** Some commands that belong together. */
export interface Story {
  name: string;
  commands: Command[];
}

const apiVersion = 'contract.example.com/v1';
const widget = (name: string, spec: object, metadata: object = {}) => aWidget({ name, ...metadata }, { spec });
const configMap = (name: string, data: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });

const words = (text: string) => text.split(' ');
const run = (text: string, more: Partial<Command> = {}): Command => ({ args: words(text), ...more });
const apply = (input: unknown[], more = '') => run(`apply -f -${more}`, { input });
const patch = (body: unknown, more = 'wdg w --type=merge'): Command => ({
  args: [...words(`patch ${more} -p`), JSON.stringify(body)],
});
const status = (body: unknown) => patch({ status: body }, 'wdg w --type=merge --subresource=status');

const commandsOf: Readonly<Record<string, Command[]>> = {
  apply: [
    apply([widget('w', { size: 1 }), configMap('c', { a: 'b' })]),
    apply([widget('w', { size: 1 }), configMap('c', { a: 'b' })]),
    apply([widget('w', { size: 2 }), configMap('c', { a: 'c' })]),
    apply([widget('w', { size: 3 })], ' --dry-run=server'),
    apply([widget('w', { size: 3 })], ' --dry-run=client'),
    apply([widget('v', { size: 1, bogus: 1 })]),
    apply([widget('w', { size: 2, bogus: 1 })], ' --validate=warn'),
    apply([widget('v', { size: 0 })]),
    apply([widget('w', { size: 1 })]),
    apply([configMap('c', {})]),
    run('get cm c -o jsonpath={.data}'),
    apply([{ apiVersion: 'nowhere.example.com/v1', kind: 'Nothing', metadata: { name: 'x' } }]),
    { ...apply([widget('w', { size: 2 })]), args: words('diff -f -') },
  ],
  'apply --server-side': [
    apply([widget('w', { size: 1 }), configMap('c', { a: 'b' })], ' --server-side'),
    apply([widget('w', { size: 1 })], ' --server-side'),
    apply([widget('w', { size: 2 })], ' --server-side --field-manager=other'),
    apply(
      [widget('w', { size: 2 }), configMap('c', { a: 'c' })],
      ' --server-side --field-manager=other --force-conflicts',
    ),
    apply([widget('w', { size: 3, color: 'blue' })], ' --server-side'),
    apply([widget('v', { size: 1 })], ' --server-side --dry-run=server'),
    apply([widget('v', { size: 1, bogus: 1 })], ' --server-side'),
    run('get wdg w -o yaml --show-managed-fields'),
  ],
  get: [
    apply([
      widget('a', { size: 1 }, { labels: { app: 'x' } }),
      widget('b', { size: 2, color: 'blue' }),
      configMap('c', { a: 'b' }),
    ]),
    run('get wdg'),
    run('get widgets -o wide'),
    run('get wdg a'),
    run('get wdg a -o yaml'),
    run('get wdg,sa --show-kind --field-selector metadata.name=a'),
    run('get wdg -l app=x --show-labels'),
    run('get wdg --field-selector spec.color=blue -o name'),
    run('get wdg --field-selector spec.size=1'),
    run('get wdg --sort-by=.spec.size --no-headers'),
    run('get wdg -o custom-columns=NAME:.metadata.name,SIZE:.spec.size'),
    run('get wdg -o jsonpath={.items[*].metadata.name}'),
    run('get wdg none'),
    run('get wdg -l app=none'),
    run('get nothings'),
    run('get contract'),
    run('get ns {ns}'),
    run('get crd widgets.contract.example.com'),
    run('get wdg --chunk-size=1'),
    { ...run('get wdg -w'), meanwhile: { commands: [words('label wdg a y=z'), words('delete wdg b')], lines: 5 } },
    { ...run('get wdg a -w -o name'), meanwhile: { commands: [words('label wdg a y=x --overwrite')], lines: 2 } },
  ],
  describe: [
    apply([
      widget('w', { size: 1, tags: ['x', 'y'] }, { labels: { app: 'x' }, annotations: { note: 'n' } }),
      configMap('c', { a: 'b' }),
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 's' } },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'r' },
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
      },
    ]),
    run('annotate wdg w note-'),
    run('describe wdg w'),
    run('describe cm c'),
    run('describe role r'),
    run('describe wdg none'),
  ],
  events: [
    apply([
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: 'e' },
        involvedObject: { apiVersion, kind: 'Widget', name: 'w', namespace: '{ns}', uid: 'u' },
        type: 'Warning',
        reason: 'Odd',
        message: 'something is odd',
        source: { component: 'contract' },
        firstTimestamp: '2020-01-01T00:00:00Z',
        lastTimestamp: '2020-01-01T00:00:00Z',
        count: 1,
      },
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: 'f' },
        eventTime: '2020-01-01T00:00:01.000000Z',
        regarding: { apiVersion, kind: 'Widget', name: 'v', namespace: '{ns}', uid: 'u' },
        type: 'Normal',
        reason: 'Fine',
        note: 'all is well',
        action: 'Looking',
        reportingController: 'example.com/contract',
        reportingInstance: 'one',
      },
    ]),
    run('events'),
    run('events --for widget/w'),
    run('events --types=Warning'),
    run('get events'),
    run('get events -o wide'),
    run('get events.events.k8s.io'),
  ],
  edit: [
    apply([widget('w', { size: 1 })]),
    run('edit wdg w', { editor: 'sed -i s/size:.1/size:\\ 2/' }),
    run('edit wdg w', { editor: 'true' }),
    run('edit wdg w --subresource=status', { editor: "sed -i 's/^spec:/status: {phase: Done}\\nspec:/'" }),
    run('get wdg w -o jsonpath={.spec.size},{.status.phase}'),
    run('edit wdg none', { editor: 'true' }),
  ],
  patch: [
    apply([widget('w', { size: 1 }), configMap('c', { a: 'b' })]),
    patch({ spec: { size: 4 } }),
    patch({ spec: { size: 4 } }),
    patch({ spec: { size: 0 } }),
    patch({ spec: { size: 5 } }, 'wdg w'),
    patch([{ op: 'replace', path: '/spec/size', value: 5 }], 'wdg w --type=json -o jsonpath={.spec.size}'),
    patch([{ op: 'test', path: '/spec/size', value: 6 }], 'wdg w --type=json'),
    patch({ data: { z: '1' } }, 'cm c'),
    patch({ data: { a: null } }, 'cm c -o jsonpath={.data}'),
    status({ phase: 'Done' }),
    patch({ spec: {} }, 'wdg none --type=merge'),
    run('label wdg w a=b'),
    run('annotate wdg w pelotech.ot/sync-requested=now'),
    run('annotate wdg w pelotech.ot/sync-requested=later'),
  ],
  delete: [
    apply([
      widget('a', { size: 1 }),
      widget('b', { size: 1 }, { labels: { app: 'x' } }),
      widget('c', { size: 1 }, { finalizers: ['x/held'] }),
      configMap('c', {}),
    ]),
    run('delete wdg a'),
    run('delete wdg a'),
    run('delete wdg a --ignore-not-found'),
    run('delete wdg -l app=x'),
    run('delete wdg c --wait=false'),
    patch({ metadata: { finalizers: null } }, 'wdg c --type=merge'),
    run('delete cm c --dry-run=server'),
    run('delete cm c --cascade=foreground'),
    run('delete wdg --all'),
  ],
  wait: [
    run('wait --for=condition=Established crd/widgets.contract.example.com'),
    apply([widget('w', { size: 1 }, { finalizers: ['x/held'] })]),
    run('wait wdg/w --for=condition=Ready --timeout=1s'),
    {
      ...run('wait wdg/w --for=condition=Ready --timeout=20s'),
      meanwhile: { commands: [status({ conditions: [{ type: 'Ready', status: 'True' }] }).args] },
    },
    {
      ...run('wait wdg/w --for=jsonpath={.status.phase}=Done --timeout=20s'),
      meanwhile: { commands: [status({ phase: 'Done' }).args] },
    },
    run('delete wdg w --wait=false'),
    {
      ...run('wait wdg/w --for=delete --timeout=20s'),
      meanwhile: { commands: [patch({ metadata: { finalizers: null } }).args] },
    },
    run('wait wdg/none --for=condition=Ready --timeout=1s'),
    run('wait wdg --all --for=condition=Ready --timeout=1s'),
  ],
  explain: [
    run('explain gadget'),
    run('explain gadget.spec'),
    run('explain gadget.spec.limits'),
    run('explain gadget.spec.mode'),
    run('explain wdg.metadata'),
    run('explain wdg --recursive'),
    run('explain gadget.spec.none'),
    run('explain nothing'),
    run('explain configmap --recursive', { only: /^(?!DESCRIPTION)( {2,}\w+\s+<|KIND|VERSION)/ }),
  ],
  'auth can-i': [
    apply([
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'r' },
        rules: [
          { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] },
          { apiGroups: ['contract.example.com'], resources: ['widgets'], resourceNames: ['w'], verbs: ['*'] },
        ],
      },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'b' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
        subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: '{ns}' }],
      },
    ]),
    run('auth can-i get configmaps'),
    run('auth can-i delete nodes'),
    run('auth can-i get cm --as=system:serviceaccount:{ns}:robot', { eventually: /^yes/ }),
    run('auth can-i delete cm --as=system:serviceaccount:{ns}:robot'),
    run('auth can-i patch wdg/w --as=system:serviceaccount:{ns}:robot'),
    run('auth can-i patch wdg/v --as=system:serviceaccount:{ns}:robot'),
    run('auth can-i get /version --as=system:serviceaccount:{ns}:robot'),
    run('auth can-i get pods --subresource=log --as=system:serviceaccount:{ns}:robot'),
    run('auth can-i --list --as=system:serviceaccount:{ns}:robot'),
    run('get secrets --as=system:serviceaccount:{ns}:robot'),
    run('auth can-i get nothings'),
    run('create token robot --duration=1m'),
    run('create token none'),
  ],
  'api-resources': [
    run('api-resources --api-group=contract.example.com'),
    run('api-resources --api-group=contract.example.com -o wide --sort-by=name'),
    run('api-resources --categories=contract -o name'),
    run('api-resources', {
      only: /^(NAME|configmaps|deployments|events|leases|namespaces|persistentvolumeclaims|pods|roles|rolebindings|secrets|serviceaccounts|selfsubject(access|rules)reviews|widgets|gadgets) /,
    }),
    run('api-versions', {
      only: /^(v1|apps\/v1|contract.*|coordination.k8s.io\/v1|events.*|authorization.*|rbac.*\/v1)$/,
    }),
  ],
};

/** Every command that people are told to use, as it prints on a real cluster. */
export const stories: Story[] = Object.entries(commandsOf).map(([name, commands]) => ({ name, commands }));
