/** Something the local API server answers differently, known and accepted. */
export interface Deviation {
  /** What it answers instead. */
  what: string;
  /** Why that is good enough. */
  reason: string;
  /** By case, which paths of its answers differ: `2.body.message` is in that of the third request; `*` is any one step, `**` any number. */
  where: Record<string, string[]>;
}

const managedFields = ['**.managedFields**'];

/** Every accepted difference between the local API server and a real one; a difference that no longer occurs must be removed. */
export const deviations: Deviation[] = [
  {
    what: 'managedFields of a built-in kind that was written without apply name the structs around a field, and what the server itself fills in',
    reason:
      'Go knows which structs are always there, a JSON schema does not. Who owns which field with a value is the same, and so are conflicts.',
    where: {
      'PUT makes a Lease that is not there, and no ConfigMap': managedFields,
      'a Lease is replaced under its resourceVersion only, but a PUT brings a deleted one back unless it names the uid':
        managedFields,
      'built-in kinds are completed and checked': managedFields,
      'a claim that is not bound stays as it was made, its size included': managedFields,
      'a Namespace is made, labelled and shown with its phase': managedFields,
      'a Deployment and a Pod are completed with what they do not say': managedFields,
      'a new kind can be asked for as a dry run': managedFields,
      'a namespace goes with what is in it, and waits for what is held': managedFields,
      'a CustomResourceDefinition is completed and established': managedFields,
      'an Event is kept once and read as core/v1 and as events.k8s.io/v1': managedFields,
      'Events are found by what they are about': managedFields,
      'an Event of events.k8s.io has more that it must say': managedFields,
      'a policy that is bound refuses, in words of its own or of its expressions': managedFields,
      'a policy sees who asks, what was before, and what is to go': managedFields,
      'a policy warns, or is ignored where it fails, if that is what it is for': managedFields,
      'a Job is completed, and selects its Pods by its uid': managedFields,
      'a Service gets an address, and keeps it': managedFields,
      'a NetworkPolicy is completed': managedFields,
    },
  },
  {
    what: 'a write to /status neither gives its manager the metadata that it sends in vain, nor takes from others the metadata that it leaves out',
    reason: 'the real server records there what it then does not write; no function applies metadata through /status',
    where: {
      'status is written through /status only, and /status writes nothing else': managedFields,
      'a PUT of the status changes the status only': managedFields,
      'finalizers are not written through /status': managedFields,
    },
  },
  {
    what: 'reviews and TokenRequests have no managedFields',
    reason: 'they are answered and not kept, so that no client meets a conflict over them',
    where: {
      'who impersonates must be allowed to': managedFields,
      'a token of a ServiceAccount is asked for, and names it': managedFields,
      'a review says whether one may, as kubectl auth can-i asks': managedFields,
      'a review lists all that one may, as kubectl auth can-i --list asks': managedFields,
      'a SubjectAccessReview says whether somebody else may': managedFields,
    },
  },
  {
    what: 'what cannot be read is refused in other words',
    reason: 'the real words are those of Go’s decoders and name Go’s types; status and reason are the same',
    where: {
      'an object must fit the path it is sent to': ['1.body.message'],
      'a body that is no JSON, or has a field of the wrong type, is a bad request': ['*.body.message'],
      'pages are of one resourceVersion, whatever is written meanwhile': ['8.body.message'],
      'a scale that cannot be is refused': ['4.body.message'],
    },
  },
  {
    what: 'who owns the replicas by a scale is recorded with the version of the object, and an apply through it with its time',
    reason: 'whose field it is, and who meets a conflict, is the same',
    where: {
      'a scale is written by PUT, patches and apply, by whom is recorded, and nothing else is written': [
        '5.body.message',
        '5.body.details.causes.0.message',
        '7.body.scaled.0.time',
      ],
    },
  },
  {
    what: 'a 406 names JSON alone, in one line',
    reason: 'nothing else is answered here, and kubectl prints the first line only',
    where: { 'who accepts nothing that there is gets 406': ['0.body.message'] },
  },
  {
    what: 'why an expression does not compile uses other words',
    reason: 'they are those of another engine; which expression, and that it does not compile, is the same',
    where: { 'policies and their bindings are checked': ['3.body.message', '3.body.details.causes.*.message'] },
  },
  {
    what: 'a value in a message is written as JSON, with its fields in order of name',
    reason: 'the real server prints the Go struct, once as a diff',
    where: {
      'a claim that is not bound stays as it was made, its size included': [
        '1.body.message',
        '1.body.details.causes.*.message',
        '2.body.message',
        '2.body.details.causes.*.message',
      ],
      'an object has one controlling owner at most': ['1.body.message', '1.body.details.causes'],
      'roles and bindings are checked and completed': ['2.body.message', '2.body.details.causes.*.message'],
      'a Job keeps its template, and leaves its Pods behind when nothing else is said': [
        '2.body.message',
        '2.body.details.causes.*.message',
      ],
    },
  },
  {
    what: 'a fault in the metadata of an update appears once among the causes',
    reason: 'the real server validates metadata twice, and says it twice there though once in its message',
    where: {
      'a PUT with the wrong uid is a conflict; a PATCH with it is invalid, and only the resourceVersion guards a status':
        ['2.body.details.causes'],
      'a patch that makes the object invalid is refused': ['2.body.details.causes'],
      'finalizers hold a deleted object until the last is removed, and none may be added': ['3.body.details.causes'],
    },
  },
  {
    what: 'columns of built-in kinds have no descriptions, and a date among them is printed as text',
    reason: 'no kubectl command shows it',
    where: {
      'tables carry the columns of the kind and the metadata of each object': [
        '*.body.columnDefinitions.*.description',
      ],
      'tables of the kinds that functions use have the columns of the real ones': [
        '*.body.columnDefinitions.*.description',
        '15.body.columnDefinitions.1.type',
      ],
    },
  },
  {
    what: 'claims are not protected by the finalizer kubernetes.io/pvc-protection',
    reason:
      'a claim that is deleted goes at once, and a workspace makes it anew; the real one keeps it as long as a Pod mounts it',
    where: {
      'built-in kinds are completed and checked': ['2.body.metadata.finalizers'],
      'a claim that is not bound stays as it was made, its size included': [
        '0.body.metadata.finalizers',
        '3.body.metadata.finalizers',
      ],
    },
  },
  {
    what: 'the type of a hostPath volume has no default',
    reason: 'no function and no story mounts one',
    where: { 'a strategic patch obeys its directives': ['*.body.volumes.*.hostPath.type'] },
  },
  {
    what: 'a CustomResourceDefinition is established, and holds its objects by a finalizer, from its first moment on',
    reason: 'the real server gets there within a second; waiting for Established works on both',
    where: {
      'a new kind can be asked for as a dry run': ['0.body.metadata.finalizers', '0.body.status.**'],
      'a CustomResourceDefinition is completed and established': ['0.body.metadata.finalizers'],
    },
  },
  {
    what: '/version names no compiler, and `local` as its platform',
    reason: 'it is not built from Go',
    where: { 'discovery tells what is served': ['0.body.compiler', '0.body.platform'] },
  },
];

/** The same for what kubectl prints, by story; none is known. */
export const kubectlDeviations: Deviation[] = [];
