//go:build before_1_28

package main

import (
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	generatedopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/client-go/kubernetes/scheme"
)

// describe gives the server the types that server-side apply merges metadata by; 1.26 reads the older form.
func describe(config *genericapiserver.RecommendedConfig) {
	names := openapi.NewDefinitionNamer(apiserver.Scheme, scheme.Scheme)
	config.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(generatedopenapi.GetOpenAPIDefinitions, names)
	config.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(generatedopenapi.GetOpenAPIDefinitions, names)
}

func customResources(
	storage *genericoptions.EtcdOptions, _ *genericapiserver.RecommendedConfig,
) (generic.RESTOptionsGetter, error) {
	return options.NewCRDRESTOptionsGetter(*storage)
}
