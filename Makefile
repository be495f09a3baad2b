# What people and workflows run. Every target works in a fresh checkout with Go and Node.

export CGO_ENABLED = 0

BIN  ?= bin/agent-contracts

GOLANGCI_LINT = go tool -modfile=tools/golangci-lint.mod golangci-lint
ACTIONLINT    = go tool -modfile=tools/actionlint.mod actionlint

.PHONY: run test lint build generate bench leakbench integration integration-all help

run: ## Capture one release of one real CLI against the scripted model server, into ./out
	go run ./cmd/agent-contracts run codex@0.133.0

test: ## All hermetic tests: loopback only, no real CLI
	go test ./...

lint: ## Formatting, vet, linters, workflows, and the builds for Windows and macOS
	@files=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); if [ -n "$$files" ]; then echo "run gofmt -w on:"; echo "$$files"; exit 1; fi
	go vet ./...
	$(GOLANGCI_LINT) run ./...
	$(ACTIONLINT)
	GOOS=windows go build -o /dev/null ./cmd/agent-contracts
	GOOS=darwin go build -o /dev/null ./cmd/agent-contracts

gate: ## What the newest covered release of each Tier 0 agent leaves out without a reason: a failure
	go run ./cmd/agent-contracts matrix --coverage --gate 0

build: ## The binary, at BIN
	go build -trimpath -o $(BIN) ./cmd/agent-contracts

generate: ## Schemas and TypeScript types from the Go types
	npm run --silent generate

bench: ## Benchmarks; docs/PERFORMANCE.md says what they show. SHORT=1 leaves out the largest
	go test -run '^$$' -bench . -benchmem -timeout 60m $(if $(SHORT),-short) ./...

# Tests against real CLIs are named TestReal… and carry the build tag integration.
integration: ## Real CLIs against the scripted model server; a missing part is a failure
	go test -tags integration -run '^TestReal' -count=1 -timeout 40m ./...

LEAKS    ?= 25000
LEAKSEED ?= 1

leakbench: ## Plant LEAKS made-up secrets (seed LEAKSEED): none may survive redaction
	go test ./pkg/redact -run '^TestLeak' -count=1 -v -timeout 30m -leaks $(LEAKS) -leakseed $(LEAKSEED)

integration-all: ## The same with what is too large for every change (build tag integration_all)
	go test -tags integration,integration_all -run '^TestReal' -count=1 -timeout 180m ./...

help: ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18
