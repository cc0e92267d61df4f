#!/usr/bin/env bash
# Runs a command with a server of its own, on an empty embedded database and a free port, as WRITEWATCH_URL (its process as
# WRITEWATCH_PID; with WRITEWATCH_METRICS_LISTEN given, its metrics as WRITEWATCH_METRICS_URL):
# scripts/with-server.sh npm --prefix web run test:browser
# The server is the one that `cargo test` built; it and its database end with the command. WRITEWATCH_BINARY names it, for
# tests that need one with other settings. With WRITEWATCH_TEST_DATABASE the database is that one, which stays.
set -euo pipefail
root=$(dirname "$(dirname "$(realpath "$0")")")
export WRITEWATCH_BINARY=${CARGO_TARGET_DIR:-$root/target}/debug/writewatch

dir=$(mktemp --directory --tmpdir writewatch-server.XXXXXX)
touch "$dir/out"
WRITEWATCH_LISTEN=${WRITEWATCH_LISTEN:-127.0.0.1:0} "$WRITEWATCH_BINARY" serve --database-url "${WRITEWATCH_TEST_DATABASE:-sqlite://$dir/writewatch.db}" >"$dir/out" 2>"$dir/log" &
server=$!

# A server that does not stop when it is asked to is a failure too.
stop_server() {
  kill "$server" 2>/dev/null || return 0
  if ! timeout 30 tail --pid="$server" --sleep-interval=0.1 --follow /dev/null; then
    echo "with-server.sh: the server did not stop within 30 s of being asked to" >&2
    kill -KILL "$server"
    return 1
  fi
}

clean_up() {
  local status=$?
  stop_server || status=1
  if [ "$status" != 0 ]; then
    echo "with-server.sh: the server's last messages:" >&2
    tail -n 50 "$dir/log" >&2
  fi
  rm -rf "$dir"
  exit "$status"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The line that says where it listens comes when it is ready.
deadline=$((SECONDS + 60))
until WRITEWATCH_URL=$(sed -n 's/^writewatch listening on //p' "$dir/out") && [ -n "$WRITEWATCH_URL" ]; do
  kill -0 "$server" 2>/dev/null || { echo "with-server.sh: the server ended before it was ready" >&2; exit 1; }
  [ "$SECONDS" -lt "$deadline" ] || { echo "with-server.sh: the server was not ready within a minute" >&2; exit 1; }
  sleep 0.05
done
# That of the metrics, where there are any, came before it.
WRITEWATCH_METRICS_URL=$(sed -n 's/^writewatch metrics on //p' "$dir/out")
export WRITEWATCH_URL WRITEWATCH_METRICS_URL WRITEWATCH_PID=$server
"$@"
