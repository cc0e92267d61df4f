# run     serve on http://127.0.0.1:4000 with an embedded database under ./data (needs Rust and Node.js, nothing else)
# test    the one check: everything below but the long runs; installs what it misses (Debian)
# check   formatting, lints, documentation and types, without running anything
# bench   measurements of this machine, to read as ratios
# docker-check   the Dockerfile's steps in full, release build included, without a Docker engine (Debian)
# chaos   the kill -9 rounds for longer than a test run has time for
# soak    the feed under writers, kills and a crashing database: 20,000 changes over more than 3 minutes, on each engine
# schemathesis   what schemathesis generates from the schema, for 10 minutes; SEED=… runs the same again (Debian: python3-venv)
.PHONY: run web build test check bench docker-check chaos soak schemathesis

run: web
	cargo run --release --locked -- serve

web: web/dist/index.html

build: web
	cargo build --release --locked

test:
	scripts/test.sh

check: web
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	RUSTDOCFLAGS='-D warnings' cargo doc --locked --no-deps --document-private-items
	npm --prefix web run check

bench:
	scripts/with-postgres.sh cargo bench --locked

docker-check:
	scripts/docker-steps.sh

chaos:
	WRITEWATCH_CHAOS_ROUNDS=500 scripts/with-postgres.sh cargo test --locked --test it crashes

soak:
	WRITEWATCH_SOAK_CHANGES=20000 WRITEWATCH_SOAK_S=190 scripts/with-postgres.sh \
		cargo test --locked --test it soak:: -- --nocapture --test-threads 1

schemathesis:
	cargo build --locked
	scripts/schemathesis.sh 600 $(if $(SEED),--seed $(SEED))

# The built page is made again only when something it is made from has changed.
web/node_modules/.package-lock.json: web/package.json web/package-lock.json web/.npmrc
	npm --prefix web ci
	touch $@

web/dist/index.html: web/node_modules/.package-lock.json schema.graphql \
		$(shell find web -path web/node_modules -prune -o -path web/dist -prune -o -path web/tests -prune -o -type f ! -name generated.ts -print)
	npm --prefix web run build
	touch $@
