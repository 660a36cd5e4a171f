# The one front door. `make` alone lists the targets.

# Programs that the build needs, each with the Debian package that brings it.
# openssl and systemctl are what tests compare with; curl and jq are what samples of the guides call.
TOOLS := cargo:rustup cc:build-essential curl:curl jq:jq openssl:openssl systemctl:systemd
# What tests start for real, beside what the lab builds and installs itself.
TEST_TOOLS := containerd:containerd runc:runc nft:nftables ip:iproute2 \
	podman:podman docker-registry:docker-registry chromium:chromium \
	mkfs.ext4:e2fsprogs mkfs.btrfs:btrfs-progs mkfs.xfs:xfsprogs strace:strace
# What benchmarks compare with, beside what the lab builds.
BENCH_TOOLS := nginx:nginx

# rustup's home is not always on the path of a fresh machine, and servers are only on that of root.
export PATH := $(HOME)/.cargo/bin:$(PATH):/usr/sbin

SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c

CARGO := cargo
# Not `cargo run`: it sets variables for the program that some build scripts watch, so that a cargo which
# that program starts would build them anew, and all that needs them.
XTASK := $(CARGO) build --quiet --locked -p xtask && target/debug/xtask
BINARY := $(CURDIR)/target/release/bootlace
# Machines need root; for anybody else `up` runs plain processes, which need programs alone.
LAB := $(if $(filter 0,$(shell id -u)),--bootlace $(BINARY),--programs-only)
# What is made, also if a runner that was started by it makes a part: `make lab FOR=test`.
GOALS := $(MAKECMDGOALS) $(FOR)
# Real Ignition is there to be compared with; a cluster does without it.
LAB += $(if $(filter test soak flaky bench,$(GOALS)),--with-ignition)
# Kubernetes' conformance specs take minutes to build, so they are built for those who run them.
LAB += $(if $(filter test flaky conformance,$(GOALS)),--with-conformance)

# Says what happens next, so that nobody wonders what a minute is spent on.
say = @printf '\n==> %s\n' '$(1)'

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help up down lab go test check lints soak flaky bench conformance build release doc tools

help: ## List the targets
	@echo 'usage: make TARGET'
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

up: lab ## Bring up a local one-node cluster on a machine of its own
	$(call say,up: a cluster on a machine of its own)
	@BOOTLACE_LAB=$(CURDIR)/target/lab.json $(BINARY) up

down: ## Remove what `up` made, and nothing else
	@[ -x $(BINARY) ] || $(CARGO) build --release --locked -p bootlace
	@$(BINARY) down

# Said before the long build, which is in vain without it.
go:
	@PATH="$$PATH:/usr/local/go/bin" command -v go >/dev/null || \
		echo 'note: Go is not found, and Kubernetes is built with it: install it before this goes far' >&2

lab: go release ## Build Kubernetes, images, a release and a machine's root, once
	$(call say,lab: real Kubernetes and real machines; what is cached is reused)
	$(CARGO) run --locked -p bootlace-lab -- prepare $(LAB)
	@$(CARGO) run --quiet --locked -p bootlace-lab -- show > target/lab.json

check: lints ## The inner loop: format, lints, layers, generated files, quick tests
	$(call say,check: quick tests)
	@$(XTASK) test quick

lints: tools
	$(call say,lints: format)
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml --check
	$(call say,lints: clippy)
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(call say,lints: layers and sizes and generated files)
	$(XTASK) layers
	$(XTASK) sizes
	$(XTASK) schemas --check
	$(XTASK) reference --check
	$(XTASK) scripts --check
	$(XTASK) figures --check

# The runner goes on after failures and sums up; it calls `make lints` and `make lab` itself.
test: tools ## Every test, slow ones included, with the release binary
	@$(XTASK) test

# Parts of a soak that need no machine, and so no lab.
IN_MEMORY := list records operations undo failures reset orders fuzz
soak: $(if $(filter $(IN_MEMORY),$(PART)),tools,lab) ## Every fault at every step, less than two hours; PART=NAME runs a part, PART=list lists them
	$(call say,soak: every fault at every step)
	@$(XTASK) soak $(PART)

flaky: lab ## Sampled, timed and machine tests by FLAKY_RUNS=30 seeds in at most FLAKY_MINUTES=60; KIND=NAME
	$(call say,flaky: tests that depend on chance or time, again and again)
	@$(XTASK) flaky $(KIND)

bench: lab ## The benchmarks, as a table and as bench/results.json
	$(call say,bench: build and run)
	$(CARGO) build --release --locked -p bootlace-bench && target/release/bootlace-bench

conformance: lab ## Kubernetes' own conformance specs, recorded in docs/reference/conformance.md
	$(call say,conformance: all specs on a cluster of up; about 40 minutes)
	BOOTLACE_BIN=$(BINARY) $(CARGO) run --locked -p bootlace-conformance

build: tools ## Build everything for development
	$(call say,build)
	$(CARGO) build --workspace --all-targets --locked

release: tools ## Build target/release/bootlace
	$(call say,release: build $(BINARY))
	$(CARGO) build --release --locked -p bootlace

doc: tools ## Build the API documentation; warnings are errors
	$(call say,doc)
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --no-deps --locked

# Looks for missing programs. Installs them only for root, where apt-get is there; else says what to do.
tools:
	@missing=''; \
	for pair in $(TOOLS) $(if $(filter test soak flaky,$(GOALS)),$(TEST_TOOLS)) \
		$(if $(filter bench,$(GOALS)),$(BENCH_TOOLS)); do \
		command -v "$${pair%%:*}" >/dev/null || missing="$$missing $${pair#*:}"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then \
		printf '\n==> tools: install%s\n' "$$missing"; \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $$missing; \
	else \
		echo "missing programs; install these packages and try again:$$missing" >&2; exit 2; \
	fi
