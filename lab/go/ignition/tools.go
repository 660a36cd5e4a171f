//go:build tools

// Package ignition names the commands that the lab builds, so that go.mod and go.sum pin all they need.
package ignition

import (
	_ "github.com/coreos/ignition/v2/internal"
	_ "github.com/coreos/ignition/v2/validate"
)
