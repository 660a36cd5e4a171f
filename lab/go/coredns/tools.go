//go:build tools

// Package coredns names the command that the lab builds, so that go.mod and go.sum pin all it needs.
package coredns

import _ "github.com/coredns/coredns"
