# Thin over meson: what to type, nothing else. `make` shows this list.
SHELL := /bin/bash
PYTHON := /usr/bin/python3
export PATH := /usr/bin:$(PATH)
BUILD := build
SECONDS_EACH := 30
# For people who use vigil: no tests, and a newer compiler's new warnings stop nobody.
RELEASE := -Dtests=false -Dwerror=false --prefix=/usr

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

build: ## build/vigil
	@tools/setup build test
	@CC=gcc tools/configure $(BUILD)
	@ninja -C $(BUILD) --quiet

demo: ## install what is missing, build, watch vigil save a training run
	@tools/setup build demo web
	@cd web && npm run --silent build || echo "demo: the page could not be built (above); vigil has the small one of web/minimal" >&2
	@CC=gcc tools/configure build-release $(RELEASE) >/dev/null
	@ninja -C build-release --quiet
	@VIGIL=build-release/src/cli/vigil tools/demo

test: ## install what is missing, build, run every test
	@tools/setup build demo test vm web
	@$(PYTHON) tools/run-tests

page: ## the web page, into web/dist
	@tools/setup web
	@cd web && npm run --silent build

test-frameworks: ## the tests with real frameworks (large packages)
	@tools/setup build demo test frameworks
	@$(PYTHON) tools/run-tests --frameworks

asan: ## unit tests and fuzz corpora under ASan and UBSan, built with clang
	@tools/setup build test
	@$(PYTHON) tools/run-tests --only asan

lint: ## the gates: layers, purity, sizes, words; then clang-tidy
	@tools/setup build test lint
	@CC=gcc tools/configure $(BUILD)
	@meson test -C $(BUILD) --suite lint --print-errorlogs
	@CC=clang tools/configure build-asan -Db_sanitize=address,undefined -Db_lundef=false
	@tools/tidy build-asan

format: ## clang-format the C files that differ from main
	@tools/setup lint
	@git diff --name-only --diff-filter=d $$(git merge-base HEAD main) -- '*.c' '*.h' | xargs -r clang-format -i

fuzz: ## fuzz each driver for SECONDS_EACH (30)
	@tools/setup build test
	@tools/fuzz $(SECONDS_EACH)

cover: ## line and branch coverage by layer
	@tools/setup build test cover
	@CC=gcc tools/configure build-cover -Db_coverage=true
	@ninja -C build-cover --quiet
	@meson test -C build-cover --suite unit --quiet
	@gcovr --root . --filter src/ --exclude-unreachable-branches build-cover

bench: ## measure against the peers, ten minutes (bench/run.sh)
	@tools/setup build demo test bench
	@CC=gcc tools/configure build-bench -Dbuildtype=debugoptimized -Dwerror=false >/dev/null
	@ninja -C build-bench --quiet
	@VIGIL=$(CURDIR)/build-bench/src/cli/vigil BENCH_BIN=$(CURDIR)/build-bench/bench bench/run.sh --out build-bench/results

install: ## install under DESTDIR and prefix (meson)
	@tools/setup build
	@CC=gcc tools/configure build-release $(RELEASE)
	@ninja -C build-release --quiet
	@meson install -C build-release

clean: ## remove what was built
	@rm -rf build build-*/ .pytest_cache

.PHONY: help build demo test test-frameworks asan lint format fuzz cover bench install clean
