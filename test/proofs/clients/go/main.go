// Calls the cluster of a kubeconfig (the file that is named) as programs in Go do, and prints a line for each call: what works, and what does not.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
)

const ns = "ws-go"

var (
	ctx    = context.Background()
	images = schema.GroupVersionResource{Group: "pelotech.ot", Version: "v1alpha1", Resource: "vmdiskimages"}
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func expect(holds bool, format string, found ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf("found "+format, found...)
}

// Runs one call; a panic in it is its failure.
func call(name string, do func() error) {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Printf("not ok %s: %v\n", name, problem)
		}
	}()
	if err := do(); err != nil {
		fmt.Printf("not ok %s: %v\n", name, err)
		return
	}
	fmt.Printf("ok %s\n", name)
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"a": "b"}}
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	pod := corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:1"}}}
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod},
	}}
}

func image(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "pelotech.ot/v1alpha1", "kind": "VMDiskImage", "metadata": map[string]any{"name": name},
		"spec": map[string]any{
			"name": name, "url": "http://127.0.0.1:1/" + name, "sourceType": "http", "storageClass": "s", "snapshotClass": "s",
			"diskSize": "1Gi", "secretRef": "none",
		},
	}}
}

func main() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	config := must(clientcmd.BuildConfigFromFlags("", os.Args[1]))
	config.QPS = -1
	client := must(kubernetes.NewForConfig(config))
	objects := must(dynamic.NewForConfig(config))
	discover(config, client)
	whoAsks(config, client)
	readAndWrite(client)
	patchAndApply(client)
	watchAndInform(client)
	deployments(config, client)
	customResources(config, client, objects)
	others(config, client)
	remove(client)
}

func discover(config *rest.Config, client *kubernetes.Clientset) {
	call("version", func() error {
		version, err := client.Discovery().ServerVersion()
		return errors.Join(err, expect(version.Major == "1", "%v", version))
	})
	call("groups and resources", func() error {
		_, lists, err := client.Discovery().ServerGroupsAndResources()
		return errors.Join(err, expect(len(lists) > 10, "%d lists", len(lists)))
	})
	call("resources of one group, not aggregated", func() error {
		list, err := client.Discovery().WithLegacy().ServerResourcesForGroupVersion("apps/v1")
		return errors.Join(err, expect(slices.ContainsFunc(list.APIResources, func(each metav1.APIResource) bool {
			return each.Name == "deployments/scale" && each.Group == "autoscaling" && each.Kind == "Scale"
		}), "%v", list))
	})
	call("a kind by its name", func() error {
		groups := must(restmapper.GetAPIGroupResources(client.Discovery()))
		mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(schema.GroupKind{Group: images.Group, Kind: "VMDiskImage"})
		return errors.Join(err, expect(mapping.Resource == images, "%v", mapping))
	})
	call("OpenAPI v3", func() error {
		paths := must(client.Discovery().OpenAPIV3().Paths())
		document, err := paths["apis/apps/v1"].Schema("application/json")
		return errors.Join(err, expect(len(document) > 1000, "%d bytes", len(document)))
	})
	call("readyz", func() error {
		body, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(ctx)
		return errors.Join(err, expect(string(body) == "ok", "%q", body))
	})
}

func whoAsks(config *rest.Config, client *kubernetes.Clientset) {
	call("SelfSubjectReview", func() error {
		me, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		return errors.Join(err, expect(slices.Contains(me.Status.UserInfo.Groups, "system:masters"), "%v", me.Status))
	})
	call("SelfSubjectAccessReview", func() error {
		asked := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "delete", Resource: "pods"},
		}}
		told, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, asked, metav1.CreateOptions{})
		return errors.Join(err, expect(told.Status.Allowed, "%v", told.Status))
	})
	call("impersonation is forbidden without a grant", func() error {
		other := rest.CopyConfig(config)
		other.Impersonate = rest.ImpersonationConfig{UserName: "ann"}
		_, err := must(kubernetes.NewForConfig(other)).CoreV1().Secrets("default").List(ctx, metav1.ListOptions{})
		return expect(apierrors.IsForbidden(err), "%v", err)
	})
}

func readAndWrite(client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(ns)
	call("create a namespace", func() error {
		_, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
		return err
	})
	call("create", func() error {
		made, err := maps.Create(ctx, configMap("a", map[string]string{"x": "1"}), metav1.CreateOptions{})
		return errors.Join(err, expect(made.UID != "" && made.ResourceVersion != "", "%v", made))
	})
	call("create again", func() error {
		_, err := maps.Create(ctx, configMap("a", nil), metav1.CreateOptions{})
		return expect(apierrors.IsAlreadyExists(err), "%v", err)
	})
	call("create as a dry run", func() error {
		must(maps.Create(ctx, configMap("dry", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))
		_, err := maps.Get(ctx, "dry", metav1.GetOptions{})
		return expect(apierrors.IsNotFound(err), "%v", err)
	})
	call("create with a generated name", func() error {
		made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "gen-"}}, metav1.CreateOptions{})
		return errors.Join(err, expect(len(made.Name) == len("gen-")+5, "%s", made.Name))
	})
	call("list by label", func() error {
		list, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "x in (1,2)"})
		return errors.Join(err, expect(len(list.Items) == 1 && list.Items[0].Name == "a", "%v", list.Items))
	})
	call("list by field", func() error {
		selector := fields.OneTermEqualSelector("metadata.name", "a").String()
		list, err := maps.List(ctx, metav1.ListOptions{FieldSelector: selector})
		return errors.Join(err, expect(len(list.Items) == 1, "%v", list.Items))
	})
	call("list in pages", func() error {
		first := must(client.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{Limit: 1}))
		next, err := client.RbacV1().ClusterRoles().List(ctx, metav1.ListOptions{Limit: 1, Continue: first.Continue})
		return errors.Join(err, expect(first.Continue != "" && next.Items[0].Name != first.Items[0].Name, "%v", next))
	})
	call("update of what was written meanwhile, tried again", func() error {
		old := must(maps.Get(ctx, "a", metav1.GetOptions{}))
		old.Data["c"] = "1"
		must(maps.Update(ctx, old, metav1.UpdateOptions{}))
		_, conflict := maps.Update(ctx, old, metav1.UpdateOptions{})
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			now := must(maps.Get(ctx, "a", metav1.GetOptions{}))
			now.Data["c"] = "2"
			_, err := maps.Update(ctx, now, metav1.UpdateOptions{})
			return err
		})
		return errors.Join(err, expect(apierrors.IsConflict(conflict), "%v", conflict))
	})
}

func patchAndApply(client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(ns)
	call("merge patch", func() error {
		now, err := maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"a":null,"m":"1"}}`), metav1.PatchOptions{})
		return errors.Join(err, expect(now.Data["a"] == "" && now.Data["m"] == "1", "%v", now.Data))
	})
	call("JSON patch", func() error {
		now, err := maps.Patch(ctx, "a", types.JSONPatchType, []byte(`[{"op":"add","path":"/data/j","value":"1"}]`), metav1.PatchOptions{})
		return errors.Join(err, expect(now.Data["j"] == "1", "%v", now.Data))
	})
	call("apply, its conflict, and by force", func() error {
		wanted := applycorev1.ConfigMap("applied", ns).WithData(map[string]string{"k": "1"})
		must(maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "one"}))
		_, conflict := maps.Apply(ctx, wanted.WithData(map[string]string{"k": "2"}), metav1.ApplyOptions{FieldManager: "two"})
		now, err := maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "two", Force: true})
		return errors.Join(err, expect(apierrors.IsConflict(conflict) && now.Data["k"] == "2", "%v, %v", conflict, now.Data))
	})
	call("what one has applied, extracted", func() error {
		now := must(maps.Get(ctx, "applied", metav1.GetOptions{}))
		mine, err := applycorev1.ExtractConfigMap(now, "two")
		return errors.Join(err, expect(mine.Data["k"] == "2", "%v", mine))
	})
	call("an unknown field, refused where asked to", func() error {
		body := []byte(`{"metadata":{"name":"odd"},"dta":{}}`)
		path := "/api/v1/namespaces/" + ns + "/configmaps"
		err := client.RESTClient().Post().AbsPath(path).Param("fieldValidation", "Strict").Body(body).Do(ctx).Error()
		return expect(apierrors.IsBadRequest(err), "%v", err)
	})
}

func watchAndInform(client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(ns)
	call("watch", func() error {
		changes := must(maps.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=w", ResourceVersion: must(maps.List(ctx, metav1.ListOptions{})).ResourceVersion}))
		defer changes.Stop()
		must(maps.Create(ctx, configMap("w", nil), metav1.CreateOptions{}))
		must(maps.Patch(ctx, "w", types.MergePatchType, []byte(`{"data":{"w":"1"}}`), metav1.PatchOptions{}))
		must(0, maps.Delete(ctx, "w", metav1.DeleteOptions{}))
		seen := []watch.EventType{(<-changes.ResultChan()).Type, (<-changes.ResultChan()).Type, (<-changes.ResultChan()).Type}
		return expect(slices.Equal(seen, []watch.EventType{watch.Added, watch.Modified, watch.Deleted}), "%v", seen)
	})
	call("watch from a version that is too new", func() error {
		_, err := maps.List(ctx, metav1.ListOptions{ResourceVersion: "99999999", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
		return expect(apierrors.IsTimeout(err), "%v", err)
	})
	call("informer", func() error {
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(ns))
		lister := factory.Core().V1().ConfigMaps().Lister()
		informer := factory.Core().V1().ConfigMaps().Informer()
		added := make(chan string, 100)
		must(informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) { added <- object.(*corev1.ConfigMap).Name }}))
		stop := make(chan struct{})
		defer factory.Shutdown()
		defer close(stop)
		factory.Start(stop)
		factory.WaitForCacheSync(stop)
		_, err := lister.ConfigMaps(ns).Get("a")
		must(maps.Create(ctx, configMap("later", nil), metav1.CreateOptions{}))
		for name := range added {
			if name == "later" {
				return err
			}
		}
		return nil
	})
}

func deployments(config *rest.Config, client *kubernetes.Clientset) {
	all := client.AppsV1().Deployments(ns)
	call("a Deployment becomes ready", func() error {
		must(all.Create(ctx, deployment("d"), metav1.CreateOptions{}))
		return untilReady(client, 1)
	})
	call("strategic patch", func() error {
		patch := `{"spec":{"template":{"spec":{"containers":[{"name":"second","image":"i:2"}]}}}}`
		now, err := all.Patch(ctx, "d", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
		return errors.Join(err, expect(len(now.Spec.Template.Spec.Containers) == 2, "%v", now.Spec))
	})
	call("scale is read", func() error {
		now, err := all.GetScale(ctx, "d", metav1.GetOptions{})
		return errors.Join(err, expect(now.Spec.Replicas == 1 && now.Status.Selector == "app=d", "%v", now))
	})
	call("scale is updated", func() error {
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			wanted := must(all.GetScale(ctx, "d", metav1.GetOptions{}))
			wanted.Spec.Replicas = 3
			_, err := all.UpdateScale(ctx, "d", wanted, metav1.UpdateOptions{})
			return err
		})
		return errors.Join(err, untilReady(client, 3))
	})
	call("scale is refused below zero", func() error {
		wanted := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: ns}, Spec: autoscalingv1.ScaleSpec{Replicas: -1}}
		_, err := all.UpdateScale(ctx, "d", wanted, metav1.UpdateOptions{})
		return expect(apierrors.IsInvalid(err), "%v", err)
	})
	call("scale by the client for any kind", func() error {
		groups := must(restmapper.GetAPIGroupResources(client.Discovery()))
		mapper := restmapper.NewDiscoveryRESTMapper(groups)
		kinds := scale.NewDiscoveryScaleKindResolver(client.Discovery())
		scales := must(scale.NewForConfig(config, mapper, dynamic.LegacyAPIPathResolverFunc, kinds))
		place := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
		now, err := scales.Scales(ns).Patch(ctx, place, "d", types.MergePatchType, []byte(`{"spec":{"replicas":2}}`), metav1.PatchOptions{})
		return errors.Join(err, expect(now.Spec.Replicas == 2, "%v", now), untilReady(client, 2))
	})
	call("Pods by their node", func() error {
		nodes := must(client.CoreV1().Nodes().List(ctx, metav1.ListOptions{}))
		node := nodes.Items[0]
		pods, err := client.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node.Name})
		return errors.Join(err, expect(len(pods.Items) >= 2 && node.Status.NodeInfo.KubeletVersion != "", "%d Pods of %s", len(pods.Items), node.Name))
	})
	call("what a Deployment owns goes with it", func() error {
		foreground := metav1.DeletePropagationForeground
		must(0, all.Delete(ctx, "d", metav1.DeleteOptions{PropagationPolicy: &foreground}))
		gone := func(event watch.Event) (bool, error) { return event.Type == watch.Deleted, nil }
		lists := cache.NewListWatchFromClient(client.AppsV1().RESTClient(), "deployments", ns, fields.Everything())
		exists := func(store cache.Store) (bool, error) { return len(store.List()) == 0, nil }
		_, err := watchtools.UntilWithSync(timeout(), lists, &appsv1.Deployment{}, exists, gone)
		sets := must(client.AppsV1().ReplicaSets(ns).List(ctx, metav1.ListOptions{}))
		return errors.Join(ignoreDone(err), expect(len(sets.Items) == 0, "%d ReplicaSets", len(sets.Items)))
	})
}

// A precondition that holds already ends the wait, too.
func ignoreDone(err error) error {
	if errors.Is(err, watchtools.ErrWatchClosed) {
		return nil
	}
	return err
}

func timeout() context.Context {
	limited, cancel := context.WithTimeout(ctx, 20*time.Second)
	context.AfterFunc(limited, cancel)
	return limited
}

func untilReady(client *kubernetes.Clientset, replicas int32) error {
	lists := cache.NewListWatchFromClient(client.AppsV1().RESTClient(), "deployments", ns, fields.OneTermEqualSelector("metadata.name", "d"))
	_, err := watchtools.UntilWithSync(timeout(), lists, &appsv1.Deployment{}, nil, func(event watch.Event) (bool, error) {
		now := event.Object.(*appsv1.Deployment)
		return now.Status.ObservedGeneration == now.Generation && now.Status.ReadyReplicas == replicas && now.Status.Replicas == replicas, nil
	})
	return err
}

func customResources(config *rest.Config, client *kubernetes.Clientset, objects *dynamic.DynamicClient) {
	all := objects.Resource(images).Namespace(ns)
	call("a custom resource", func() error {
		made, err := all.Create(ctx, image("i"), metav1.CreateOptions{})
		return errors.Join(err, expect(made.GetGeneration() == 1, "%v", made))
	})
	call("a custom resource that its schema refuses", func() error {
		wrong := image("wrong")
		unstructured.RemoveNestedField(wrong.Object, "spec", "url")
		_, err := all.Create(ctx, wrong, metav1.CreateOptions{})
		return expect(apierrors.IsInvalid(err), "%v", err)
	})
	call("a custom resource by strategic patch", func() error {
		_, err := all.Patch(ctx, "i", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
		return expect(apierrors.IsUnsupportedMediaType(err), "%v", err)
	})
	call("the status of a custom resource", func() error {
		now, err := all.Patch(ctx, "i", types.MergePatchType, []byte(`{"status":{"message":"by Go"}}`), metav1.PatchOptions{}, "status")
		message, _, _ := unstructured.NestedString(now.Object, "status", "message")
		return errors.Join(err, expect(message == "by Go", "%v", now))
	})
	call("no scale where the kind has none", func() error {
		_, err := all.Get(ctx, "i", metav1.GetOptions{}, "scale")
		return expect(apierrors.IsNotFound(err), "%v", err)
	})
	call("metadata alone", func() error {
		parts := must(metadata.NewForConfig(config)).Resource(images).Namespace(ns)
		one, err := parts.Get(ctx, "i", metav1.GetOptions{})
		list := must(parts.List(ctx, metav1.ListOptions{}))
		accept := "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
		raw := must(client.RESTClient().Get().AbsPath("/apis/pelotech.ot/v1alpha1/vmdiskimages").SetHeader("Accept", accept).DoRaw(ctx))
		return errors.Join(err, expect(one.UID != "" && len(list.Items) == 1 && !strings.Contains(string(raw), `"spec":`), "%v, %v, %s", one, list, raw))
	})
}

func others(config *rest.Config, client *kubernetes.Clientset) {
	call("leader election", func() error {
		led := make(chan string, 1)
		limited, cancel := context.WithCancel(timeout())
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: ns},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
		}
		leaderelection.RunOrDie(limited, leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: 3 * time.Second, RenewDeadline: 2 * time.Second, RetryPeriod: 100 * time.Millisecond, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { led <- "me"; cancel() },
				OnStoppedLeading: func() {},
			},
		})
		lease, err := client.CoordinationV1().Leases(ns).Get(ctx, "leader", metav1.GetOptions{})
		return errors.Join(err, expect(len(led) == 1 && *lease.Spec.HolderIdentity == "", "%v", lease.Spec))
	})
	call("an Event, told twice", func() error {
		about := must(client.CoreV1().ConfigMaps(ns).Get(ctx, "a", metav1.GetOptions{}))
		events := client.CoreV1().Events(ns)
		changes := must(events.Watch(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=a"}))
		defer changes.Stop()
		broadcaster := record.NewBroadcaster()
		defer broadcaster.Shutdown()
		broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
		recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "smoke"})
		recorder.Event(about, corev1.EventTypeNormal, "Told", "once more")
		recorder.Event(about, corev1.EventTypeNormal, "Told", "once more")
		for change := range changes.ResultChan() {
			if change.Object.(*corev1.Event).Count == 2 {
				break
			}
		}
		newer := must(client.EventsV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "reason=Told"}))
		return expect(len(newer.Items) == 1 && newer.Items[0].DeprecatedCount == 2, "%v", newer.Items)
	})
	call("a ServiceAccount with a token may what a Role says, and no more", func() error {
		must(client.CoreV1().ServiceAccounts(ns).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "reader"}}, metav1.CreateOptions{}))
		rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}}}
		must(client.RbacV1().Roles(ns).Create(ctx, &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "reader"}, Rules: rules}, metav1.CreateOptions{}))
		must(client.RbacV1().RoleBindings(ns).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "reader"},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "reader", Namespace: ns}},
			RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "reader"},
		}, metav1.CreateOptions{}))
		token := must(client.CoreV1().ServiceAccounts(ns).CreateToken(ctx, "reader", &authenticationv1.TokenRequest{}, metav1.CreateOptions{}))
		as := rest.AnonymousClientConfig(config)
		as.BearerToken = token.Status.Token
		reader := must(kubernetes.NewForConfig(as))
		_, err := reader.CoreV1().ConfigMaps(ns).Get(ctx, "a", metav1.GetOptions{})
		_, refused := reader.CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{})
		return errors.Join(err, expect(apierrors.IsForbidden(refused), "%v", refused))
	})
	call("a client that prefers protobuf gets JSON", func() error {
		either := rest.CopyConfig(config)
		either.ContentType = "application/vnd.kubernetes.protobuf"
		either.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
		maps := must(kubernetes.NewForConfig(either)).CoreV1().ConfigMaps(ns)
		must(maps.Create(ctx, configMap("proto", nil), metav1.CreateOptions{}))
		now, err := maps.Get(ctx, "proto", metav1.GetOptions{})
		return errors.Join(err, expect(now.Data["a"] == "b", "%v", now))
	})
	call("a client that takes protobuf alone is told so", func() error {
		only := rest.CopyConfig(config)
		only.AcceptContentTypes = "application/vnd.kubernetes.protobuf"
		_, err := must(kubernetes.NewForConfig(only)).CoreV1().ConfigMaps(ns).List(ctx, metav1.ListOptions{})
		return expect(apierrors.ReasonForError(err) == metav1.StatusReasonNotAcceptable, "%v", err)
	})
}

func remove(client *kubernetes.Clientset) {
	maps := client.CoreV1().ConfigMaps(ns)
	call("delete of another object of that name", func() error {
		uid := types.UID("other")
		err := maps.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
		return expect(apierrors.IsConflict(err), "%v", err)
	})
	call("delete, and once more", func() error {
		err := maps.Delete(ctx, "a", metav1.DeleteOptions{})
		return errors.Join(err, expect(apierrors.IsNotFound(maps.Delete(ctx, "a", metav1.DeleteOptions{})), "no NotFound"))
	})
	call("delete all", func() error {
		err := maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		list := must(maps.List(ctx, metav1.ListOptions{}))
		return errors.Join(err, expect(len(list.Items) == 0, "%d", len(list.Items)))
	})
	call("a namespace goes with what is in it", func() error {
		return client.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{})
	})
}
