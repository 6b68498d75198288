# Parley. `make help` lists what there is; CONTRIBUTING.md says when to use which.
#
# `make serve` and `make test` need no other step: each installs what is missing first (Debian
# packages, a Python environment in .venv, CodeMirror, the WebAssembly module), and looks at
# stamps afterwards, so that a second run starts at once.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# The manifest decides by it whether warnings are errors. Of `make -C FOLDER` it would be the caller's.
export PWD := $(CURDIR)

# One configuration for everything but `make try`, so that nothing is built twice. SwiftPM finds tests by the index, so
# that its twentieth of the time cannot be saved.
# Without information for debuggers, it compiles in seven eighths of the time. `make try` and packages include that information.
SWIFT_BUILD := swift build -c release -debug-info-format none
# `make serve ARGUMENTS="--port 9000"`
ARGUMENTS ?=
# Python with pip, for tools and tests.
export PYTHON := .venv/bin/python

SWIFT_PATHS := Package.swift Sources Tests Fuzz Benchmarks

##@ Every day

.PHONY: serve
serve: build  ## Build what is missing and run the gateway (ARGUMENTS="--port 9000" are passed on)
	@exec "$$($(SWIFT_BUILD) --show-bin-path)/parley" serve $(ARGUMENTS)

.PHONY: build
build: setup-serve page  ## Build the program and the page, without running them
	@$(SWIFT_BUILD) --product parley

.PHONY: test
test: setup-serve  ## Lint, build, and run every test, a real browser included
	@$(MAKE) -j2 --output-sync=target build-tests build-beside
	@python3 Scripts/run_tests.py growth swift fuzz web clients browser

SINCE ?= HEAD

.PHONY: check
check: setup-serve  ## Lint, build, and run the tests that a change can reach: SINCE=HEAD, or another commit
	@python3 Scripts/check_change.py --since $(SINCE)

# A suite or a test target, as `swift test --filter` takes it.
SUITE ?=
TRY_BUILD := --scratch-path .build/try

.PHONY: try
try: setup-serve  ## Build for debugging and run one suite: SUITE=GatewayTests
	@[ -n "$(SUITE)" ] || { echo "Name a suite: make try SUITE=GatewayTests" >&2; exit 2; }
	@swift build $(TRY_BUILD) --build-tests
	@swift test $(TRY_BUILD) --disable-xctest --skip-build --filter '$(SUITE)'

.PHONY: format
format: check-swift  ## Lay out the Swift sources
	@swift format --in-place --parallel --recursive $(SWIFT_PATHS)

.PHONY: lint
lint: check-swift  ## Check the layout of the Swift sources, and the English of comments, names of tests and pages
	@swift format lint --strict --parallel --recursive $(SWIFT_PATHS)
	@Scripts/check_english.py

##@ Parts of the tests

.PHONY: test-swift test-fuzz test-web test-clients test-browser
test-swift: setup-serve build-tests  ## Swift's tests alone
	@python3 Scripts/run_tests.py growth swift
test-fuzz: setup-serve build-tests  ## Replay what fuzzing has found worth keeping, and a little more
	@python3 Scripts/run_tests.py fuzz
test-web: setup-test page  ## The page's unit tests alone
	@python3 Scripts/run_tests.py web
test-clients: setup-test build library  ## Python clients against the real program
	@python3 Scripts/run_tests.py clients
test-browser: setup-test build  ## Chromium against the real program
	@for name in todo-bot live-list board; do $(SWIFT_BUILD) --product parley-example-$$name || exit 1; done
	@python3 Scripts/run_tests.py browser

.PHONY: build-tests build-beside
# The longest chain of modules comes first. SwiftPM would begin it last, when nothing is left for the other core.
build-tests: setup-serve
	@$(SWIFT_BUILD) --target GatewayTests
	@$(SWIFT_BUILD) --build-tests
# Whatever else the tests need, for a core that the build of the package leaves idle: its largest modules are
# compiled by one core each, and others wait for them.
build-beside: setup-serve
	@nice $(MAKE) lint setup-test page library
	@nice $(MAKE) python-bytecode

# Each worker of pytest compiles all modules, unless their bytecode is there. A module that cannot be loaded is an error of
# the tests later.
.PHONY: python-bytecode
python-bytecode:
	@PYTHONPYCACHEPREFIX=$(CURDIR)/.build/python-bytecode $(PYTHON) -m pytest --collect-only -q Tests/Browser >/dev/null || true
	@PYTHONPYCACHEPREFIX=$(CURDIR)/.build/python-bytecode $(PYTHON) -m pytest --collect-only -q \
	  Tests/System Tests/Clients Clients/python/tests >/dev/null || true

##@ Set-up (done by the targets above)

.PHONY: setup-serve setup-test
setup-serve: check-swift  ## Install what building and serving need
	@Scripts/install-packages.sh serve
	@Scripts/python-environment.sh base

setup-test: setup-serve  ## Install what the tests need
	@Scripts/install-packages.sh test
	@Scripts/python-environment.sh test

.PHONY: page
page: setup-serve  ## Fetch CodeMirror, ProseMirror, KaTeX and Mermaid, compile the core to WebAssembly, and build the page in Web/built
	@if [ -x Scripts/vendor-codemirror.sh ]; then Scripts/vendor-codemirror.sh; fi
	@if [ -x Scripts/vendor-prosemirror.sh ]; then Scripts/vendor-prosemirror.sh; fi
	@if [ -x Scripts/vendor-drawing.sh ]; then Scripts/vendor-drawing.sh; fi
	@if [ -x Scripts/build-wasm.sh ]; then Scripts/build-wasm.sh; fi
	@Scripts/build-page.py

.PHONY: library
library: check-swift  ## Compile the client core as a library for other languages (Clients/c)
	@Scripts/build-library.sh

.PHONY: check-swift
check-swift:
	@Scripts/check-swift.sh

##@ Long runs

SECONDS_EACH ?= 60

.PHONY: fuzz
fuzz: check-swift  ## Fuzz the decoders and the algebra, SECONDS_EACH=60 for each target
	@for target in $$(Scripts/fuzz.sh); do Scripts/fuzz.sh "$$target" $(SECONDS_EACH); done

.PHONY: test-long
test-long: setup-test build library  ## The tests that `make test` leaves out, for each takes as long as a hundred others
	@$(SWIFT_BUILD) --product parley-example-board
	@for folder in Clients/python/tests Tests/Browser; do $(PYTHON) -m pytest -q --color=no -m long $$folder; done

.PHONY: test-webkit
test-webkit: setup-test build  ## The main flows in WebKit, Safari's engine; installs it and a screen in memory first
	@Scripts/install-packages.sh webkit
	@PARLEY_WEBKIT=1 $(PYTHON) -m pytest -q --color=no Tests/Browser/test_other_browsers.py

# A folder of editing traces, NAME.json.gz: see Benchmarks/Core/README.md
TRACES ?=

.PHONY: bench-core
bench-core: setup-test page  ## Measure OTCore beside the floor, and write the results (TRACES=FOLDER)
	@$(SWIFT_BUILD) --product ot-bench
	@TRACES="$(TRACES)" $(PYTHON) Benchmarks/bench_core.py --write Benchmarks/Core

ORACLE_CASES ?= 5000000
ORACLE_FIRST ?= 1

.PHONY: oracle
oracle: setup-serve build-tests  ## Compare OTCore with its reference, ORACLE_CASES=5000000 times
	@ORACLE_CASES=$(ORACLE_CASES) ORACLE_FIRST=$(ORACLE_FIRST) \
	  swift test -c release --disable-xctest --skip-build --filter 'OracleTests|RichTests'

.PHONY: asan-core
asan-core: check-swift  ## Run OTCore's tests with the address sanitizer
	@Scripts/asan-core.sh

SEEDS ?= 100000
FROM ?= 1
JOBS ?= $(shell nproc)

HOUR ?= 1

.PHONY: airplane
airplane: build-tests  ## An hour without a line: 10,000 edits, 12,000 by others, a client that dies (HOUR=0.1 for a tenth)
	@PARLEY_AIRPLANE_HOUR=$(HOUR) swift test -c release --disable-xctest --skip-build --filter AirplaneTests

.PHONY: simulate
NODES ?= 1

simulate: check-swift  ## Whole gateways, SEEDS=100000 FROM=1 JOBS=2 NODES=1; ROOMS=1 with rooms; TRACE=1 tells one seed's story
	@$(SWIFT_BUILD) --product parley-simulate
	@"$$($(SWIFT_BUILD) --show-bin-path)/parley-simulate" $(SEEDS) $(FROM) --jobs $(JOBS) \
	  --nodes $(NODES) $(if $(ROOMS),--rooms) $(if $(TRACE),--trace)

.PHONY: parts
parts: setup-serve  ## See that each part of the gateway compiles without the parts above it
	@swift build $(TRY_BUILD) --target Gateway
	@python3 Scripts/check_parts.py

.PHONY: mutations
mutations: setup-test  ## See that each deliberate bug in Tests/Mutations is found (NAME= for one)
	@python3 Scripts/mutations.py --jobs $(JOBS) $(NAME)

CASES ?= 100000

.PHONY: edge-fuzz
edge-fuzz: setup-test build  ## Send CASES=100000 spoilt byte streams to the program, plain and TLS
	@$(PYTHON) Tests/System/edge_run.py --cases $(CASES)
	@$(PYTHON) Tests/System/edge_run.py --cases $(CASES) --tls

KILLS ?= 1000
SEED ?= 1

.PHONY: crash-test
crash-test: setup-test build  ## Kill the server KILLS=1000 times under typing clients, and compare
	@$(PYTHON) Tests/System/crash_run.py --kills $(KILLS) --seed $(SEED)

STOPS ?= 200
CUTS ?= 100
RESTARTS ?= 20
PROMOTIONS ?= 20

.PHONY: cluster-test
cluster-test: setup-test build  ## Three gateways on one PostgreSQL: KILLS=1000 STOPS=200 CUTS=100 PROMOTIONS=20
	@$(PYTHON) Tests/System/cluster_run.py --kills $(KILLS) --stops $(STOPS) --cuts $(CUTS) \
	  --restarts $(RESTARTS) --promotions $(PROMOTIONS) --seed $(SEED)

.PHONY: client-crash-test
client-crash-test: setup-serve build-tests  ## Kill a client KILLS=1000 times with notes and changes that wait
	@KILLS=$(KILLS) swift test -c release --disable-xctest --skip-build --filter ClientCrashTests

.PHONY: airplane-page
airplane-page: setup-test build  ## Write in Chromium for an hour without a line, while others write 12,000 changes
	@AIRPLANE=long $(PYTHON) -m pytest -q Tests/Browser/test_airplane.py

.PHONY: page-crash-test
page-crash-test: setup-test build  ## Kill the server KILLS=1000 times under a person who types formatted text in Chromium
	@KILLS=$(KILLS) SEED=$(SEED) $(PYTHON) -m pytest -q -s -m long Tests/Browser/test_formatted_kills.py

SECONDS_LOSSY ?= 60

.PHONY: lossy-test
lossy-test: setup-test build  ## Cut clients' connections for SECONDS_LOSSY=60, and compare
	@$(PYTHON) Tests/System/lossy_run.py --seconds $(SECONDS_LOSSY) --seed $(SEED)

.PHONY: stalled-test
stalled-test: setup-test build  ## Measure the server's memory with readers that have stalled
	@$(PYTHON) Tests/System/stalled_run.py --changes 12000 --readers 1
	@$(PYTHON) Tests/System/stalled_run.py --changes 12000 --readers 100

SECONDS_ATTACK ?= 600

.PHONY: attack-test
attack-test: setup-test build  ## Attack the server without a token for SECONDS_ATTACK=600 beside typists
	@$(SWIFT_BUILD) --product parley-load
	@for attack in bodies handshakes logins; do $(PYTHON) Tests/System/attack_run.py $$attack; done
	@$(PYTHON) Tests/System/attack_run.py mixed --seconds $(SECONDS_ATTACK)

SECONDS_SOAK ?= 3600

.PHONY: soak
soak: setup-test build  ## Everything at once for SECONDS_SOAK=3600: nothing lost, nothing left behind
	@$(SWIFT_BUILD) --product parley-load
	@$(PYTHON) Tests/System/soak_run.py --seconds $(SECONDS_SOAK)

# What runs on several threads or wraps a C library.
SANITIZED := GatewayTests|ParleyTransportLibwebsocketsTests|ParleyStoreSQLiteTests|ParleyCryptoOpenSSLTests|ParleyServerTests|ParleyClientTests|ParleyWebSocketClientTests

# Leaks that are not to be reported.
LEAKS := suppressions=$(CURDIR)/Tests/leaks-of-libraries.txt:print_suppressions=0

.PHONY: tsan asan
tsan: setup-serve  ## Gateway and adapters under ThreadSanitizer
	@swift build -c release --scratch-path .build/tsan --sanitize=thread --build-tests
	@TSAN_OPTIONS=suppressions=$(CURDIR)/Tests/false-races.txt \
	  swift test -c release --disable-xctest --skip-build \
	  --scratch-path .build/tsan --sanitize=thread --filter '$(SANITIZED)'
asan: setup-serve  ## Gateway and adapters under AddressSanitizer
	@swift build -c release --scratch-path .build/asan --sanitize=address --build-tests
	@LSAN_OPTIONS=$(LEAKS) swift test -c release --disable-xctest --skip-build --scratch-path .build/asan \
	  --sanitize=address --filter '$(SANITIZED)' --skip ParleyTransportLibwebsocketsTests
# Only whole stacks, which take time, tell the library's leaks from our own.
	@ASAN_OPTIONS=fast_unwind_on_malloc=0 LSAN_OPTIONS=$(LEAKS) \
	  swift test -c release --disable-xctest --skip-build --scratch-path .build/asan \
	  --sanitize=address --filter ParleyTransportLibwebsocketsTests

.PHONY: bench-load
bench-load: setup-test page  ## Measure connections, messages and typists beside a null server
	@$(SWIFT_BUILD) --product parley && $(SWIFT_BUILD) --product parley-load
	@$(PYTHON) Benchmarks/bench_load.py --write

.PHONY: bench-growth
bench-growth: setup-test page  ## Measure how work and memory grow with the load (STORE_MEGABYTES=1024)
	@$(SWIFT_BUILD) --product parley && $(SWIFT_BUILD) --product parley-load
	@$(SWIFT_BUILD) --product parley-store-bench
	@$(PYTHON) Benchmarks/bench_growth.py --write --store-megabytes $(or $(STORE_MEGABYTES),1024)

.PHONY: bench-peers
bench-peers: setup-test page  ## Measure Parley beside other servers, which are fetched into .build/peers
	@$(SWIFT_BUILD) --product parley && $(SWIFT_BUILD) --product parley-load
	@$(PYTHON) Benchmarks/bench_peers.py --write

REVISIONS ?= 300000

.PHONY: bench-cluster
bench-cluster: setup-test page  ## Measure gateways and loops on PostgreSQL, each held to a part of a core
	@$(SWIFT_BUILD) --product parley && $(SWIFT_BUILD) --product parley-load
	@$(PYTHON) Benchmarks/bench_cluster.py

.PHONY: bench-store
bench-store: check-swift  ## Measure typists beside a reader, and authors at random places (REVISIONS=)
	@$(SWIFT_BUILD) --product parley-store-bench
	@"$$($(SWIFT_BUILD) --show-bin-path)/parley-store-bench" $(REVISIONS)

.PHONY: bench-history
bench-history: setup-test page build  ## Measure how a history of a million revisions opens
	@$(PYTHON) Benchmarks/bench_history.py

.PHONY: bench-search
bench-search: setup-test build  ## Measure search over 10,000 notes, and typing beside it
	@$(PYTHON) Benchmarks/bench_search.py

.PHONY: bench-python
bench-python: setup-test page library  ## Measure the client core in Python, as a library and as WebAssembly
	@$(PYTHON) Benchmarks/bench_python.py

.PHONY: package-test
package-test: check-swift  ## Build an app on this package's clients, without what only the server needs
	@Scripts/package-test.sh

.PHONY: bench-outbox
bench-outbox: check-swift  ## Measure an app's outbox on this disk
	@$(SWIFT_BUILD) --product parley-outbox-bench
	@folder=$$(mktemp -d -p .); "$$($(SWIFT_BUILD) --show-bin-path)/parley-outbox-bench" $$folder; rm -r $$folder

##@ Other

.PHONY: docs
docs: check-swift  ## Build the documentation of all products for clients to .build/docs
	@for target in ParleyUI ParleyChat ParleyGroups ParleyTwakeCubits; do $(SWIFT_BUILD) --target $$target || exit 1; done
	@Scripts/build-docs.sh "$$($(SWIFT_BUILD) --show-bin-path)/Modules"

.PHONY: apple-check
apple-check: check-swift  ## Type-check views, example and tutorials for Apple's systems, by stand-ins
	@for target in ParleyUI ParleyChat ParleyGroups ParleyTwakeCubits; do $(SWIFT_BUILD) --target $$target || exit 1; done
	@Scripts/apple-check.sh "$$($(SWIFT_BUILD) --show-bin-path)/Modules"

.PHONY: python
python: setup-serve page library  ## Make the Python package parley as wheels, in .build/python
	@Scripts/build-python.sh

.PHONY: deb
deb: setup-serve page  ## Make a Debian package of the program and its page
	@Scripts/make-deb.sh

.PHONY: dist image install-test
dist: setup-serve page  ## Make a tarball that runs without a compiler and without packages
	@Scripts/install-packages.sh dist
	@Scripts/make-dist.sh
image: setup-serve page  ## Make a container image, as an archive to load
	@Scripts/install-packages.sh dist
	@Scripts/make-image.sh
install-test: image deb  ## Install tarball, package and image in bare roots, and use them (as root)
	@python3 Scripts/install_test.py

.PHONY: settings-pages
settings-pages: setup-serve build-tests  ## Write the documentation's tables of settings again
	@UPDATE_PAGES=1 swift test -c release --disable-xctest --skip-build --filter SettingsPageTests

.PHONY: pictures
pictures: setup-test build  ## Take the documentation's pictures again
	@$(PYTHON) Scripts/readme_picture.py

.PHONY: clean
clean:  ## Remove what was built (not .venv, not the vendored page parts)
	rm -rf .build artifacts Web/generated Web/built

.PHONY: help
help:  ## Show this list
	@awk 'BEGIN { FS = ":.*##" } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z][a-z-]*:.*##/ { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
