// Reads an EventSource and a Sensor as Argo Events does, and says what its own code makes of each CloudEvent that is posted: the first argument is
// the file with both, stdin has a request a line as JSON ({"header": {...}, "body": {...}}), and stdout the Workflow of each, or "filtered".
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/argoproj/argo-events/pkg/apis/events/v1alpha1"
	"github.com/argoproj/argo-events/pkg/reconciler/sensor"
	"github.com/argoproj/argo-events/pkg/sensors/dependencies"
	"github.com/argoproj/argo-events/pkg/sensors/triggers"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	source, wanted := &v1alpha1.EventSource{}, &v1alpha1.Sensor{}
	for _, document := range strings.Split(string(must(os.ReadFile(os.Args[1]))), "\n---\n") {
		kind := struct{ Kind string }{}
		must(0, yaml.Unmarshal([]byte(document), &kind))
		switch kind.Kind {
		case "EventSource":
			must(0, yaml.UnmarshalStrict([]byte(document), source))
		case "Sensor":
			must(0, yaml.UnmarshalStrict([]byte(document), wanted))
		}
	}
	must(0, v1alpha1.ValidateEventSource(source))
	bus := &v1alpha1.EventBus{Spec: v1alpha1.EventBusSpec{NATS: &v1alpha1.NATSBus{Native: &v1alpha1.NativeStrategy{}}}}
	must(0, sensor.ValidateSensor(wanted, bus))

	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(workflowOf(wanted, source, lines.Bytes()))
	}
}

// As the webhook event source and the sensor do it: a dependency filters, then the parameters of the trigger are put into its resource.
func workflowOf(wanted *v1alpha1.Sensor, source *v1alpha1.EventSource, request []byte) string {
	dependency, trigger := wanted.Spec.Dependencies[0], wanted.Spec.Triggers[0]
	if _, exists := source.Spec.Webhook[dependency.EventName]; !exists || dependency.EventSourceName != source.Name {
		panic("the Sensor depends on an event that the EventSource does not have")
	}
	event := &v1alpha1.Event{
		Context: &v1alpha1.EventContext{DataContentType: "application/json", Source: source.Name, Subject: dependency.EventName},
		Data:    request,
	}
	if !must(dependencies.Filter(event, dependency.Filters, dependency.FiltersLogicalOperator)) {
		return "filtered"
	}
	object := &unstructured.Unstructured{}
	must(0, json.Unmarshal(trigger.Template.ArgoWorkflow.Source.Resource.Value, object))
	events := map[string]*v1alpha1.Event{dependency.Name: event}
	must(0, triggers.ApplyResourceParameters(events, trigger.Template.ArgoWorkflow.Parameters, object))
	return strings.TrimSpace(string(must(object.MarshalJSON())))
}
