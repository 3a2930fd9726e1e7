// Command referee serves CustomResourceDefinitions and custom resources with the code of one Kubernetes minor,
// for tests only: one process on the loopback, with an etcd of its own in a directory that the caller gives.
//
// It prints one line of JSON when it is ready ({"url", "etcd"}) and ends when its standard input ends, so that it
// never outlives the test that started it. Every request needs the token of the environment variable
// REFEREE_TOKEN; who has it may do everything.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

func main() {
	data := flag.String("data", "", "an empty directory for etcd")
	gates := flag.String("feature-gates", "", "NAME=true|false, ...")
	flag.Parse()
	if err := run(*data, *gates, os.Getenv("REFEREE_TOKEN")); err != nil {
		fmt.Fprintln(os.Stderr, "referee:", err)
		os.Exit(1)
	}
}

func run(data, gates, token string) error {
	if data == "" || token == "" {
		return fmt.Errorf("-data and REFEREE_TOKEN are needed")
	}
	if gates != "" {
		if err := utilfeature.DefaultMutableFeatureGate.Set(gates); err != nil {
			return err
		}
	}
	etcd, err := startEtcd(data)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer etcd.Close()
	endpoint := etcd.Clients[0].Addr().String()

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	server, err := newServer("http://"+endpoint, listener.Addr().String(), token)
	if err != nil {
		return err
	}
	prepared := server.GenericAPIServer.PrepareRun()
	go func() { fail(http.Serve(listener, namingVersion(server.GenericAPIServer.Handler))) }()
	if _, _, err := prepared.NonBlockingRun(ctx.Done(), time.Second); err != nil {
		return err
	}
	line, err := json.Marshal(map[string]string{
		"url": "http://" + listener.Addr().String(), "etcd": "http://" + endpoint,
	})
	if err != nil {
		return err
	}
	fmt.Println(string(line))
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// namingVersion answers /version, and /version/, which clients ask, with the minor that the program is built from;
// everything else is the server's.
func namingVersion(server http.Handler) http.Handler {
	found := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "k8s.io/apiserver" {
				parts := strings.SplitN(module.Version, ".", 3) // v0.36.6
				found = map[string]string{"major": "1", "minor": parts[1], "gitVersion": "v1." + parts[1] + "." + parts[2]}
			}
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.TrimSuffix(r.URL.Path, "/") != "/version" {
			server.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(found)
	})
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "referee:", err)
	os.Exit(1)
}

// startEtcd starts a single member that need not outlive a crash: it never waits for the disk.
func startEtcd(data string) (*embed.Etcd, error) {
	clients, err := freeAddress()
	if err != nil {
		return nil, err
	}
	// The file's keys are the same in all versions of etcd, the fields of the configuration are not.
	settings, err := json.Marshal(map[string]any{
		"data-dir":                    filepath.Join(data, "etcd"),
		"listen-client-urls":          clients,
		"advertise-client-urls":       clients,
		"listen-peer-urls":            "http://127.0.0.1:0",
		"initial-advertise-peer-urls": "http://127.0.0.1:0",
		"initial-cluster":             "default=http://127.0.0.1:0",
		"unsafe-no-fsync":             true,
		"log-level":                   "error",
		"log-outputs":                 []string{"stderr"},
	})
	if err != nil {
		return nil, err
	}
	file := filepath.Join(data, "etcd.json")
	if err := os.WriteFile(file, settings, 0o600); err != nil {
		return nil, err
	}
	config, err := embed.ConfigFromFile(file)
	if err != nil {
		return nil, err
	}
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, nil
	case err := <-etcd.Err():
		return nil, err
	case <-time.After(time.Minute):
		return nil, fmt.Errorf("not ready after a minute")
	}
}

// freeAddress is an address that nobody listens on: etcd's own HTTP gateway has to know its port beforehand.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return "http://" + listener.Addr().String(), listener.Close()
}

// newServer is the API server for CustomResourceDefinitions as Kubernetes ships it, without admission.
func newServer(etcd, address, token string) (*apiserver.CustomResourceDefinitions, error) {
	given := options.NewCustomResourceDefinitionsServerOptions(io.Discard, io.Discard)
	if err := given.Complete(); err != nil {
		return nil, err
	}
	storage := given.RecommendedOptions.Etcd
	storage.StorageConfig.Transport.ServerList = []string{etcd}

	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	if err := given.ServerRunOptions.ApplyTo(&config.Config); err != nil {
		return nil, err
	}
	if err := given.APIEnablement.ApplyTo(
		&config.Config, apiserver.DefaultAPIResourceConfigSource(), apiserver.Scheme,
	); err != nil {
		return nil, err
	}
	config.ExternalAddress = address
	// The token of the loopback client is the one that is let in.
	config.LoopbackClientConfig = &rest.Config{Host: "http://" + address, BearerToken: token, QPS: -1}
	config.Authentication.Authenticator = authenticator.RequestFunc(
		func(*http.Request) (*authenticator.Response, bool, error) { return nil, false, nil },
	)
	config.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	if err := storage.ApplyTo(&config.Config); err != nil {
		return nil, err
	}
	describe(config)
	custom, err := customResources(storage, config)
	if err != nil {
		return nil, err
	}
	made := &apiserver.Config{
		GenericConfig: config,
		ExtraConfig: apiserver.ExtraConfig{
			CRDRESTOptionsGetter: custom,
			ServiceResolver:      noServices{},
			AuthResolverWrapper: func(resolver webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
				return resolver
			},
		},
	}
	return made.Complete().New(genericapiserver.NewEmptyDelegate())
}

// noServices knows no service: conversion webhooks are called by their URL only.
type noServices struct{}

func (noServices) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return nil, fmt.Errorf("no service %s/%s:%d", namespace, name, port)
}
