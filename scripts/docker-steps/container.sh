# Runs the finished image as a container would be run; sourced by ../docker-steps.sh.

# The words of an instruction in its exec form, a JSON list, each ended by a NUL.
words() { node --eval 'process.stdout.write(JSON.parse(process.argv[1]).map((word) => word + "\0").join(""))' "$1"; }

run_container() {
  local start ask server uid deadline=$((SECONDS + 60))
  mapfile -d '' start < <(words "$entrypoint" && words "$command")
  mapfile -d '' ask < <(words "$healthcheck")
  echo "== the container: ${start[*]} =="
  [ "$user" != root ] || fail "the image runs as root"

  # A network of its own, as a container has: its port is free, and nobody outside reaches it.
  ip netns add "$network"
  ip -netns "$network" link set lo up
  stage_prefix
  prefix=(ip netns exec "$network" "${prefix[@]}")

  "${prefix[@]}" "${ask[@]}" 2>/dev/null && fail "the health check passes without a server"
  "${prefix[@]}" "${start[@]}" >"$work/container.log" 2>&1 &
  server=$!
  until "${prefix[@]}" "${ask[@]}" 2>/dev/null; do
    kill -0 "$server" 2>/dev/null || fail "the server ended: $(cat "$work/container.log")"
    [ "$SECONDS" -lt "$deadline" ] || fail "the health check does not pass within a minute: $(cat "$work/container.log")"
    sleep 0.2
  done
  uid=$(stat --format %u "/proc/$server")
  echo "healthy, as user $uid, with $(ls "$root/data" | tr '\n' ' ')in the volume"
  [ "$uid" != 0 ] || fail "the server runs as root"
  [ -e "$root/data/writewatch.db" ] || fail "the database is not in the volume"
  # A prebuilt binary reads the page from the project's folder, which is not here.
  if [ -z "$prebuilt" ]; then
    ip netns exec "$network" curl --silent --header 'accept: text/html' http://127.0.0.1:4000/ >"$work/page"
    grep --quiet '<script' "$work/page" || fail "the release build does not serve the page"
  fi

  kill "$server"
  timeout 30 tail --pid="$server" --sleep-interval=0.1 --follow /dev/null || fail "the server did not stop within 30 s of being asked to"
  wait "$server" || fail "asked to stop, the server ended with status $?: $(cat "$work/container.log")"
}
