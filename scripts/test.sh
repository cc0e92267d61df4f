#!/usr/bin/env bash
# The one check. Installs what it misses, then checks everything on real parts: both databases, real servers, a real
# browser. Everything it starts ends with it.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

step() { printf '\n== %s ==\n' "$*"; }

# Each part is named by a file that only its package brings.
install_missing() {
  local missing=()
  has() { compgen -G "$2" >/dev/null || missing+=("$1"); }
  has postgresql-15 '/usr/lib/postgresql/*/bin/initdb'
  has faketime '/usr/lib/*/faketime/libfaketimeMT.so.1'
  has chromium /usr/bin/chromium
  has debootstrap /usr/sbin/debootstrap
  has iproute2 '/*bin/ip'
  has curl /usr/bin/curl
  has python3-venv '/usr/lib/python3*/ensurepip/__main__.py'
  [ ${#missing[@]} -gt 0 ] || return 0

  step "installing ${missing[*]}"
  command -v apt-get >/dev/null || { echo "test.sh: without apt-get, install these yourself: ${missing[*]}" >&2; exit 1; }
  as_root apt-get update --quiet
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --no-install-recommends "${missing[@]}"
}

# With this user's programs and toolchains.
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo env PATH="$PATH" HOME="$HOME" "$@"; fi; }

install_missing

step "formatting, lints, documentation, types"
make check

step "tests on SQLite and PostgreSQL"
results=$(mktemp)
trap 'rm -f "$results"' EXIT
scripts/with-postgres.sh cargo test --locked 2>&1 | tee "$results"

# All of these use the server that `cargo test` has built.
step "the door, by the usual clients"
scripts/with-server.sh npm --prefix web run test:door

step "the door's cases, on PostgreSQL"
# shellcheck disable=SC2016
scripts/with-postgres.sh bash -c \
  'WRITEWATCH_TEST_DATABASE=$WRITEWATCH_TEST_POSTGRES scripts/with-server.sh npm --prefix web run test:cases'
step "signing in, by the usual clients"
WRITEWATCH_AUTH=did WRITEWATCH_AUDIENCE=https://books.example scripts/with-server.sh npm --prefix web run test:sign-in

step "the page, in a browser"
scripts/with-server.sh npm --prefix web run test:browser

step "what schemathesis generates"
scripts/schemathesis.sh 60

step "README's walk"
scripts/walk.sh

step "the Dockerfile's steps"
as_root scripts/docker-steps.sh --prebuilt "${CARGO_TARGET_DIR:-target}/debug/writewatch"

# Only reached when every step above has passed.
step "all is well"
awk '/^test result:/ { passed += $4; failed += $6 } END { printf "%d passed, %d failed\n", passed, failed }' "$results"
