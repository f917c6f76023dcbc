import { readFileSync } from 'node:fs';
import { Document } from 'yaml';
import { headerOf } from '../yaml-text.ts';

/** The first line of the files below. */
export const header = headerOf('deploy/pipelines/preload.sh and components.ts');

const script = readFileSync(new URL('preload.sh', import.meta.url), 'utf8');

interface Input {
  name: string;
  variable: string;
  about: string;
  byDefault?: string;
}

const inputs: readonly Input[] = [
  { name: 'name', variable: 'IMAGE_NAME', about: 'name of the VMDiskImage' },
  {
    name: 'gateway-url',
    variable: 'OT_GATEWAY_URL',
    about: 'address of the gateway, such as https://preload.example.com/',
  },
  {
    name: 'version',
    variable: 'IMAGE_VERSION',
    about: "replaces {version} in the policy's imageUrlTemplate",
    byDefault: '',
  },
  {
    name: 'digest',
    variable: 'IMAGE_DIGEST',
    about: 'identifies the content: an unchanged one starts no download',
    byDefault: '',
  },
  { name: 'url', variable: 'IMAGE_URL', about: 'where the image is, in place of imageUrlTemplate', byDefault: '' },
  { name: 'source-type', variable: 'IMAGE_SOURCE_TYPE', about: 's3 (if empty), http or registry', byDefault: '' },
  { name: 'disk-size', variable: 'IMAGE_DISK_SIZE', about: "such as 24Gi, in place of the policy's", byDefault: '' },
  { name: 'checksum', variable: 'IMAGE_CHECKSUM', about: 'ALGORITHM:HEX, with source type http', byDefault: '' },
  {
    name: 'namespace',
    variable: 'IMAGE_NAMESPACE',
    about: "one of the policy's imageNamespaces; the first if empty",
    byDefault: '',
  },
  { name: 'wait', variable: 'OT_WAIT', about: 'true: until it is Ready, or has failed', byDefault: 'true' },
  { name: 'timeout', variable: 'OT_TIMEOUT', about: 'the longest wait, in seconds', byDefault: '3600' },
];

/** GitHub's own token, for the audience that the gateway expects. */
const githubToken = `token() {
  : "\${ACTIONS_ID_TOKEN_REQUEST_URL:?the job needs the permission id-token: write}" "\${ACTIONS_ID_TOKEN_REQUEST_TOKEN:?}"
  printf 'authorization: Bearer %s\\n' "\${ACTIONS_ID_TOKEN_REQUEST_TOKEN}" |
    curl --fail --silent --show-error --max-time 30 --retry 5 --header @- "\${ACTIONS_ID_TOKEN_REQUEST_URL}&audience=\${OT_GATEWAY_AUDIENCE}" |
    sed -n 's/.*"value" *: *"\\([^"]*\\)".*/\\1/p'
}
`;

const described = ({ about, byDefault }: Input) => ({
  description: about,
  ...(byDefault === undefined ? {} : { default: byDefault }),
});

const variables = (reference: (name: string) => string) =>
  Object.fromEntries(inputs.map(({ name, variable }) => [variable, reference(name)]));

const audience = {
  name: 'audience',
  variable: '',
  about: 'as in the configuration of the gateway',
  byDefault: 'ot-preload',
};

const action = () => ({
  name: 'Preload a disk image',
  description: 'Publishes an image at the gateway of ot-functions and waits until machines can be made of it.',
  inputs: Object.fromEntries(
    [...inputs, audience].map((input) => [
      input.name,
      { ...described(input), required: input.byDefault === undefined },
    ]),
  ),
  runs: {
    using: 'composite',
    steps: [
      {
        shell: 'sh -e {0}',
        env: {
          ...variables((name) => `\${{ inputs.${name} }}`),
          OT_GATEWAY_AUDIENCE: `\${{ inputs.${audience.name} }}`,
          OT_EVENT_ID: `\${{ github.run_id }}.\${{ github.run_attempt }}.\${{ inputs.name }}`,
          OT_EVENT_SOURCE: `\${{ github.server_url }}/\${{ github.repository }}`,
        },
        run: githubToken + script,
      },
    ],
  },
});

const gitlabInputs = {
  spec: {
    inputs: {
      ...Object.fromEntries([...inputs, audience].map((input) => [input.name, described(input)])),
      stage: { description: 'the stage of the job', default: 'deploy' },
      job: { description: 'the name of the job', default: 'preload-image' },
    },
  },
};

const gitlabJob = () => ({
  '$[[ inputs.job ]]': {
    stage: '$[[ inputs.stage ]]',
    image: 'curlimages/curl:8.16.0',
    id_tokens: { OT_ID_TOKEN: { aud: `$[[ inputs.${audience.name} ]]` } },
    variables: { ...variables((name) => `$[[ inputs.${name} ]]`), GIT_STRATEGY: 'none' },
    script: [
      `OT_EVENT_ID="\${CI_JOB_ID}" OT_EVENT_SOURCE="\${CI_PROJECT_URL}"\ntoken() { printf %s "\${OT_ID_TOKEN:?}"; }\n${script}`,
    ],
  },
});

const tokenFolder = '/var/run/secrets/ot';

const task = () => ({
  apiVersion: 'tekton.dev/v1',
  kind: 'Task',
  metadata: { name: 'ot-preload', labels: { 'app.kubernetes.io/version': '0.1' } },
  spec: {
    description: 'Publishes an image at the gateway of ot-functions and waits until machines can be made of it.',
    params: inputs.map((input) => ({ name: input.name, type: 'string', ...described(input) })),
    steps: [
      {
        name: 'preload',
        image: 'curlimages/curl:8.16.0',
        env: [
          ...Object.entries(variables((name) => `$(params.${name})`)).map(([name, value]) => ({ name, value })),
          { name: 'OT_EVENT_ID', value: '$(context.taskRun.uid)' },
          {
            name: 'OT_EVENT_SOURCE',
            value: '/apis/tekton.dev/v1/namespaces/$(context.taskRun.namespace)/taskruns/$(context.taskRun.name)',
          },
        ],
        securityContext: {
          allowPrivilegeEscalation: false,
          runAsNonRoot: true,
          runAsUser: 65532,
          capabilities: { drop: ['ALL'] },
          seccompProfile: { type: 'RuntimeDefault' },
        },
        volumeMounts: [{ name: 'token', mountPath: tokenFolder, readOnly: true }],
        script: `#!/bin/sh\nset -e\ntoken() { cat "\${OT_TOKEN_FILE:-${tokenFolder}/token}"; }\n${script}`,
      },
    ],
    volumes: [
      {
        name: 'token',
        projected: {
          sources: [{ serviceAccountToken: { audience: audience.byDefault, expirationSeconds: 3600, path: 'token' } }],
        },
      },
    ],
  },
});

/** What pipelines use as it is, by path in this folder: a GitHub Action, a GitLab component, a Tekton Task; one script in all of them. */
export const componentFiles = (): Map<string, string> =>
  new Map([
    ['preload/action.yml', textOf(action())],
    ['templates/preload.yml', textOf(gitlabInputs, gitlabJob())],
    ['tekton-task.yaml', textOf(task())],
  ]);

const textOf = (...documents: object[]) =>
  header + documents.map((one) => new Document(one).toString({ lineWidth: 0 })).join('---\n');
