#!/usr/bin/env bash
# What schemathesis generates, against a server of its own on an empty database: scripts/schemathesis.sh SECONDS [--seed N]
# Its programs are in a folder of the build, installed anew whenever the list of them changes, each as its hash says.
set -euo pipefail
root=$(dirname "$(dirname "$(realpath "$0")")")
list=$root/scripts/schemathesis/requirements.txt
venv=${CARGO_TARGET_DIR:-$root/target}/schemathesis
seconds=$1
shift

if ! cmp --silent "$list" "$venv/installed.txt"; then
  rm -rf "$venv"
  # Debian's own, whose parts scripts/test.sh installs, where there is one.
  python=/usr/bin/python3
  [ -x "$python" ] || python=python3
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: --requirement "$list"
  cp "$list" "$venv/installed.txt"
fi

# Nothing is written beside the scripts.
export PYTHONDONTWRITEBYTECODE=1
# shellcheck disable=SC2016 # the server's addresses are known inside
WRITEWATCH_METRICS_LISTEN=127.0.0.1:0 "$root/scripts/with-server.sh" \
  bash -c '"$@" "$WRITEWATCH_URL/graphql" "$WRITEWATCH_METRICS_URL"' - \
  "$venv/bin/python" "$root/scripts/schemathesis/run.py" --seconds "$seconds" "$@"
