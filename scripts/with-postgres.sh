#!/usr/bin/env bash
# Runs a command with a PostgreSQL cluster for the tests: scripts/with-postgres.sh cargo test operations
# The cluster and every temporary file of the command, clusters of its own among them, end with it.
set -euo pipefail
scripts=$(dirname "$(realpath "$0")")

dir=$(mktemp --directory --tmpdir writewatch-test.XXXXXX)
# Started by root, a cluster runs as another user, which has to reach its folder.
chmod 755 "$dir"
export TMPDIR=$dir

clean_up() {
  for data in "$dir"/*/data; do
    [ ! -d "$data" ] || "$scripts/postgres.sh" stop "$(dirname "$data")" || true
  done
  rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

WRITEWATCH_TEST_POSTGRES=$("$scripts/postgres.sh" start "$dir/main")
export WRITEWATCH_TEST_POSTGRES
"$@"
