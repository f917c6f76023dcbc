"""Calls the cluster of a kubeconfig (the file that is named) as programs in Python do, and prints a line for each call: what works, and what does not."""

import sys
import threading

from kubernetes import client, config, dynamic, utils, watch
from kubernetes.client.exceptions import ApiException

NS = "ws-python"
config.load_kube_config(sys.argv[1])
core, apps, custom = client.CoreV1Api(), client.AppsV1Api(), client.CustomObjectsApi()
IMAGES = ("pelotech.ot", "v1alpha1", NS, "vmdiskimages")


def call(name):
    """Runs one call at once; what it throws is its failure."""

    def run(do):
        try:
            do()
            print(f"ok {name}")
        except Exception as error:  # any at all is what is looked for
            print(f"not ok {name}: {type(error).__name__} {error}".replace("\n", " "))

    return run


def refused(status, reason, do):
    try:
        do()
    except ApiException as error:
        assert (error.status, reason in error.body) == (status, True), f"{error.status} {error.body}"
        return
    raise AssertionError(f"expected {status}, found an answer")


def config_map(name, labels=None):
    return client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data={"a": "b"})


def image(name):
    spec = {"name": name, "url": f"http://127.0.0.1:1/{name}", "sourceType": "http", "storageClass": "s", "snapshotClass": "s",
            "diskSize": "1Gi", "secretRef": "none"}
    return {"apiVersion": "pelotech.ot/v1alpha1", "kind": "VMDiskImage", "metadata": {"name": name}, "spec": spec}


def deployment(name):
    container = {"name": "c", "image": "i:1"}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}
    spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": NS}, "spec": spec}


def until_ready(replicas):
    options = {"field_selector": "metadata.name=d", "timeout_seconds": 20}
    for event in watch.Watch().stream(apps.list_namespaced_deployment, NS, **options):
        now = event["object"]
        if now.status.observed_generation == now.metadata.generation and now.status.ready_replicas == replicas == now.status.replicas:
            return
    raise AssertionError(f"the Deployment has no {replicas} replicas after 20 s")


@call("version")
def _():
    assert client.VersionApi().get_code().major == "1"


@call("groups, and the resources of one")
def _():
    assert "pelotech.ot" in [group.name for group in client.ApisApi().get_api_versions().groups]
    assert "deployments/scale" in [resource.name for resource in apps.get_api_resources().resources]
    assert core.get_api_resources().resources and client.CoreApi().get_api_versions().versions == ["v1"]


@call("SelfSubjectReview")
def _():
    me = client.AuthenticationV1Api().create_self_subject_review(client.V1SelfSubjectReview())
    assert "system:masters" in me.status.user_info.groups


@call("SelfSubjectAccessReview and SelfSubjectRulesReview")
def _():
    api = client.AuthorizationV1Api()
    may = {"spec": {"resourceAttributes": {"verb": "delete", "resource": "pods"}}}
    assert api.create_self_subject_access_review(may).status.allowed
    assert api.create_self_subject_rules_review({"spec": {"namespace": NS}}).status.resource_rules


@call("impersonation is forbidden without a grant")
def _():
    other = client.ApiClient()
    other.set_default_header("Impersonate-User", "ann")
    refused(403, "Forbidden", lambda: client.CoreV1Api(other).list_namespaced_secret("default"))


@call("create a namespace")
def _():
    core.create_namespace({"metadata": {"name": NS}})


@call("create, and again")
def _():
    assert core.create_namespaced_config_map(NS, config_map("a", {"x": "1"})).metadata.uid
    refused(409, "AlreadyExists", lambda: core.create_namespaced_config_map(NS, config_map("a")))


@call("create as a dry run")
def _():
    core.create_namespaced_config_map(NS, config_map("dry"), dry_run="All")
    refused(404, "NotFound", lambda: core.read_namespaced_config_map("dry", NS))


@call("create from YAML")
def _():
    utils.create_from_dict(client.ApiClient(), {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "y", "namespace": NS}})


@call("list by label, by field and in pages")
def _():
    assert [item.metadata.name for item in core.list_namespaced_config_map(NS, label_selector="x=1").items] == ["a"]
    assert len(core.list_namespaced_config_map(NS, field_selector="metadata.name=a").items) == 1
    first = core.list_namespaced_config_map(NS, limit=1)
    rest = core.list_namespaced_config_map(NS, limit=1, _continue=first.metadata._continue)
    assert rest.items[0].metadata.name != first.items[0].metadata.name


@call("replace of what was written meanwhile")
def _():
    old = core.read_namespaced_config_map("a", NS)
    old.data["c"] = "1"
    core.replace_namespaced_config_map("a", NS, old)
    refused(409, "Conflict", lambda: core.replace_namespaced_config_map("a", NS, old))


@call("strategic patch")
def _():
    assert core.patch_namespaced_config_map("a", NS, {"data": {"s": "1"}}).data["s"] == "1"


@call("merge patch")
def _():
    patched = core.patch_namespaced_config_map("a", NS, {"data": {"a": None}}, _content_type="application/merge-patch+json")
    assert "a" not in patched.data


@call("JSON patch")
def _():
    patch = [{"op": "add", "path": "/data/j", "value": "1"}]
    assert core.patch_namespaced_config_map("a", NS, patch).data["j"] == "1"


@call("apply, its conflict, and by force")
def _():
    maps = dynamic.DynamicClient(client.ApiClient()).resources.get(api_version="v1", kind="ConfigMap")

    def apply(value, **options):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "applied"}, "data": {"k": value}}
        return maps.server_side_apply(body=body, namespace=NS, **options)

    apply("1", field_manager="one")
    try:
        apply("2", field_manager="two")
        raise AssertionError("expected a conflict, found an answer")
    except dynamic.exceptions.ConflictError as error:
        assert "conflict with" in str(error.body)
    assert apply("2", field_manager="two", force_conflicts=True).data.k == "2"


@call("watch")
def _():
    version = core.list_namespaced_config_map(NS).metadata.resource_version
    core.create_namespaced_config_map(NS, config_map("w"))
    core.patch_namespaced_config_map("w", NS, {"data": {"w": "1"}})
    core.delete_namespaced_config_map("w", NS)
    options = {"resource_version": version, "field_selector": "metadata.name=w", "timeout_seconds": 1}
    seen = [event["type"] for event in watch.Watch().stream(core.list_namespaced_config_map, NS, **options)]
    assert seen == ["ADDED", "MODIFIED", "DELETED"], seen


@call("watch of what is written later")
def _():
    later = threading.Timer(0.2, lambda: core.create_namespaced_config_map(NS, config_map("later")))
    later.start()
    for event in watch.Watch().stream(core.list_namespaced_config_map, NS, timeout_seconds=20):
        if event["object"].metadata.name == "later":
            return
    raise AssertionError("the watch ended without it")


@call("a Deployment becomes ready")
def _():
    apps.create_namespaced_deployment(NS, deployment("d"))
    until_ready(1)


@call("scale is read, replaced and patched")
def _():
    scale = apps.read_namespaced_deployment_scale("d", NS)
    assert (scale.spec.replicas, scale.status.selector) == (1, "app=d"), scale
    scale.spec.replicas = 3
    assert apps.replace_namespaced_deployment_scale("d", NS, scale).spec.replicas == 3
    until_ready(3)
    assert apps.patch_namespaced_deployment_scale("d", NS, {"spec": {"replicas": 2}}).spec.replicas == 2
    until_ready(2)
    refused(422, "Scale.autoscaling", lambda: apps.patch_namespaced_deployment_scale("d", NS, {"spec": {"replicas": -1}}))


@call("Pods and their node")
def _():
    node = core.list_node().items[0]
    assert next(each for each in node.status.conditions if each.type == "Ready").status == "True"
    pods = core.list_namespaced_pod(NS, field_selector=f"spec.nodeName={node.metadata.name}").items
    assert len(pods) >= 2 and pods[0].status.phase == "Running"


@call("a custom resource, and one that its schema refuses")
def _():
    assert custom.create_namespaced_custom_object(*IMAGES, image("i"))["metadata"]["generation"] == 1
    wrong = image("wrong")
    del wrong["spec"]["url"]
    refused(422, "spec.url", lambda: custom.create_namespaced_custom_object(*IMAGES, wrong))


@call("a custom resource with an unknown field, refused where asked to")
def _():
    odd = {**image("odd"), "sepc": {}}
    refused(400, "unknown field", lambda: custom.create_namespaced_custom_object(*IMAGES, odd, field_validation="Strict"))


@call("the status of a custom resource")
def _():
    patched = custom.patch_namespaced_custom_object_status(*IMAGES, "i", {"status": {"message": "by Python"}}, _content_type="application/merge-patch+json")
    assert patched["status"]["message"] == "by Python"


@call("a custom resource by its kind")
def _():
    kinds = dynamic.DynamicClient(client.ApiClient()).resources
    images = kinds.get(api_version="pelotech.ot/v1alpha1", kind="VMDiskImage")
    assert [item.metadata.name for item in images.get(namespace=NS).items] == ["i"]


@call("a CustomResourceDefinition")
def _():
    found = client.ApiextensionsV1Api().read_custom_resource_definition("vmdiskimages.pelotech.ot")
    assert "Established" in [each.type for each in found.status.conditions]


@call("a Lease")
def _():
    leases = client.CoordinationV1Api()
    now = "2026-01-01T00:00:00.000001Z"
    leases.create_namespaced_lease(NS, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "me", "renewTime": now}})
    assert leases.read_namespaced_lease("l", NS).spec.renew_time.year == 2026


@call("an Event, in both of its groups")
def _():
    about = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "namespace": NS}
    told = {"reason": "Told", "message": "m", "type": "Normal", "action": "Telling", "eventTime": "2026-01-01T00:00:00.000001Z"}
    reporter = {"reportingComponent": "smoke", "reportingInstance": "smoke"}
    core.create_namespaced_event(NS, {"metadata": {"name": "a.1"}, "involvedObject": about, **told, **reporter})
    found = client.EventsV1Api().list_namespaced_event(NS, field_selector="reason=Told")
    assert (found.items[0].regarding.name, found.items[0].note) == ("a", "m")


@call("a ServiceAccount with a token may what a Role says, and no more")
def _():
    rbac = client.RbacAuthorizationV1Api()
    core.create_namespaced_service_account(NS, {"metadata": {"name": "reader"}})
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]
    rbac.create_namespaced_role(NS, {"metadata": {"name": "reader"}, "rules": rules})
    rbac.create_namespaced_role_binding(NS, {
        "metadata": {"name": "reader"},
        "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": NS}],
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
    })
    token = core.create_namespaced_service_account_token("reader", NS, {"spec": {}}).status.token
    settings = client.Configuration(host=core.api_client.configuration.host, api_key={"authorization": f"Bearer {token}"})
    reader = client.CoreV1Api(client.ApiClient(settings))
    assert reader.read_namespaced_config_map("a", NS).metadata.name == "a"
    refused(403, "cannot list resource", lambda: reader.list_namespaced_config_map(NS))


@call("delete, once more, and all")
def _():
    core.delete_namespaced_config_map("a", NS)
    refused(404, "NotFound", lambda: core.delete_namespaced_config_map("a", NS))
    core.delete_collection_namespaced_config_map(NS)
    assert core.list_namespaced_config_map(NS).items == []


@call("what a Deployment owns goes with it")
def _():
    apps.delete_namespaced_deployment("d", NS, propagation_policy="Foreground")
    for event in watch.Watch().stream(apps.list_namespaced_replica_set, NS, timeout_seconds=20):
        if event["type"] == "DELETED":
            break
    assert apps.list_namespaced_replica_set(NS).items == []


@call("a namespace goes with what is in it")
def _():
    core.delete_namespace(NS)
