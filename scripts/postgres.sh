#!/usr/bin/env bash
# A throw-away PostgreSQL cluster in a folder of its own.
#
#   scripts/postgres.sh start DIR [NAME=VALUE …]   makes it, starts it, prints its URL; the database (and nothing
#                                                  else) gets the given variables in its environment
#   scripts/postgres.sh restart DIR                ends it as a crash would, and starts it again where it was
#   scripts/postgres.sh stop DIR                   stops it and removes its data
#
# It listens on a free loopback port and takes anyone there at their word, as befits data that nobody keeps. Durability
# is as in production (fsync on): the tests are about what survives.
set -euo pipefail

fail() { echo "postgres.sh: $*" >&2; exit 1; }

[ $# -ge 2 ] || fail "usage: $0 start DIR [NAME=VALUE …] | restart DIR | stop DIR"
act=$1 dir=$2
shift 2

# Debian keeps the server's programs out of the PATH, one folder for each major version.
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort --version-sort | tail -n 1 || true)
[ -x "$bin/initdb" ] || bin=$(dirname "$(command -v initdb)") || fail "PostgreSQL's server is not installed (Debian: apt-get install postgresql-15)"

# PostgreSQL refuses to run as root.
as_postgres() {
  if [ "$(id -u)" = 0 ]; then setpriv --reuid=postgres --regid=postgres --init-groups -- "$@"; else "$@"; fi
}

start() {
  mkdir -p "$dir"
  dir=$(realpath "$dir")
  [ ! -e "$dir/data" ] || fail "$dir/data exists already"
  mkdir "$dir/data"
  [ "$(id -u)" != 0 ] || chown postgres: "$dir/data"
  cd "$dir/data"
  as_postgres "$bin/initdb" --pgdata="$dir/data" --username=postgres --auth=trust --encoding=UTF8 --locale=C.UTF-8 >/dev/null
  # No socket file: its path may not be long, and TCP serves all.
  as_postgres tee -a "$dir/data/postgresql.conf" >/dev/null <<-CONF
	listen_addresses = '127.0.0.1'
	unix_socket_directories = ''
	max_connections = 200
	CONF
  local port tries
  for tries in $(seq 20); do
    # Below the range that the kernel hands out to clients.
    port=$((20000 + RANDOM % 12000))
    if as_postgres env "$@" "$bin/pg_ctl" start --wait --silent --pgdata="$dir/data" --log="$dir/data/log" --options="-p $port" >&2; then
      echo "postgres://postgres@127.0.0.1:$port/postgres"
      return
    fi
    # A port in use is the one reason to try again.
    [ "$(grep --count 'could not bind' "$dir/data/log")" = "$tries" ] || break
  done
  cat "$dir/data/log" >&2
  fail "the cluster in $dir does not start"
}

restart() {
  cd "$dir/data"
  as_postgres "$bin/pg_ctl" restart --mode=immediate --wait --silent --pgdata="$dir/data" --log="$dir/data/log" >&2
}

stop() {
  [ -d "$dir/data" ] || fail "no cluster in $dir"
  cd "$dir/data"
  # It may have stopped by itself; then only its data is left to remove.
  [ ! -e postmaster.pid ] || as_postgres "$bin/pg_ctl" stop --mode=immediate --silent --pgdata="$dir/data" >&2
  cd /
  rm -rf "$dir/data"
}

case $act in
  start) start "$@" ;;
  restart) dir=$(realpath "$dir"); restart ;;
  stop) dir=$(realpath "$dir"); stop ;;
  *) fail "unknown act $act" ;;
esac
