# SPDX-License-Identifier: Apache-2.0
# The newcomer's door. Each target installs what is missing, configures and builds before its job.
.PHONY: all demo test install wheel clean

PREFIX ?= /usr/local

all:
	@tools/setup.sh
	@cmake --preset release >/dev/null
	@cmake --build --preset release

demo:
	@tools/demo.sh

test:
	@tools/ci.sh test $(if $(OPTIONAL),optional)

install: all
	@cmake --install build/release --prefix "$(PREFIX)"

wheel:
	@tools/setup.sh
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target libwarpage libwarpage_ops
	@python3 python/build_wheel.py

clean:
	rm -rf build
