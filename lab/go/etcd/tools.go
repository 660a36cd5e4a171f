//go:build tools

// Package etcd names the commands that the lab builds, so that go.mod and go.sum pin all they need.
package etcd

import (
	_ "go.etcd.io/etcd/etcdctl/v3"
	_ "go.etcd.io/etcd/server/v3"
)
