// reader answers which objects Kubernetes reads in files: one file as base64 per line of the input, one JSON list of
// their apiVersion and kind per line of the output. It reads as kubectl does, up to the first error.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func objects(file []byte) [][2]string {
	found := [][2]string{}
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(file), 4096)
	for {
		raw := runtime.RawExtension{}
		if err := decoder.Decode(&raw); err != nil {
			return found
		}
		text := bytes.TrimSpace(raw.Raw)
		if len(text) == 0 || bytes.Equal(text, []byte("null")) {
			continue
		}
		object, _, err := unstructured.UnstructuredJSONScheme.Decode(text, nil, nil)
		if err != nil {
			return found
		}
		found = append(found, of(object)...)
	}
}

func of(object runtime.Object) [][2]string {
	if list, ok := object.(*unstructured.UnstructuredList); ok {
		found := [][2]string{}
		for index := range list.Items {
			found = append(found, of(&list.Items[index])...)
		}
		return found
	}
	version, kind := object.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	return [][2]string{{version, kind}}
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<28)
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	answer := json.NewEncoder(output)
	for input.Scan() {
		file, err := base64.StdEncoding.DecodeString(input.Text())
		if err != nil {
			panic(err)
		}
		if err := answer.Encode(objects(file)); err != nil {
			panic(err)
		}
	}
}
