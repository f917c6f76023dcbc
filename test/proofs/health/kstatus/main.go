// Says of each object of stdin, one a line as JSON, what kstatus, the Lua of Argo CD and the expressions of Flux (as JSON) take it for;
// the files of the last two are named.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	script := string(must(os.ReadFile(os.Args[1])))
	var expressions kustomize.HealthCheckExpressions
	must(0, json.Unmarshal(must(os.ReadFile(os.Args[2])), &expressions))
	flux := must(cel.NewStatusEvaluator(&expressions))
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		object := &unstructured.Unstructured{}
		must(0, object.UnmarshalJSON(lines.Bytes()))
		found := must(flux.Evaluate(context.Background(), object)).Status
		fmt.Printf("%s %s %s\n", must(status.Compute(object)).Status, argo(script, object.Object), found)
	}
}

// As Argo CD calls it: the object is the global obj, and the script returns a table.
func argo(script string, object map[string]any) string {
	state := lua.NewState()
	defer state.Close()
	state.SetGlobal("obj", toLua(state, object))
	must(0, state.DoString(script))
	return state.GetField(state.Get(-1), "status").String()
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, inner := range value {
			table.RawSetString(key, toLua(state, inner))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, inner := range value {
			table.Append(toLua(state, inner))
		}
		return table
	case string:
		return lua.LString(value)
	case bool:
		return lua.LBool(value)
	case int64:
		return lua.LNumber(value)
	case float64:
		return lua.LNumber(value)
	default:
		return lua.LNil
	}
}
