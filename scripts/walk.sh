#!/usr/bin/env bash
# Walks through README.md exactly as printed, against a server that `cargo test` built, and compares what appears with
# what README.md shows.
#
# A fenced block's second word says what it is: `sh watch` is typed in the terminal that watches, `sh walk` in the other,
# and `json watch` and `json walk` are what appears there.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

case ${1:-start} in
  # README.md names the default port, which may be taken here; in a network of its own it is free.
  start) exec unshare --map-root-user --net scripts/walk.sh in-network ;;
  in-network)
    ip link set lo up
    WRITEWATCH_LISTEN=127.0.0.1:4000 exec scripts/with-server.sh scripts/walk.sh beside-server
    ;;
esac

work=$(mktemp --directory --tmpdir writewatch-walk.XXXXXX)
watcher=
clean_up() {
  # npm starts further processes; they are in the watcher's own group.
  [ -z "$watcher" ] || kill -- "-$watcher" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT

fail() { echo "walk.sh: $*" >&2; exit 1; }

blocks() { awk -v fence="\`\`\`$1" '$0 == fence { inside = 1; next } $0 == "```" { inside = 0 } inside' README.md; }

for block in "sh watch" "sh walk" "json watch" "json walk"; do
  blocks "$block" >"$work/$block"
  [ -s "$work/$block" ] || fail "README.md has no block \"$block\""
done

# What differs from run to run is printed as … in README.md.
masked() { sed -E 's/"(id|claimedUntil)":"[^"]*"/"\1":"…"/g'; }

# Changes that the walk does not make, by which it is known from when and up to when the watcher has seen everything.
mark() {
  local body='{"query": "mutation ($id: String!) { recordWinner(input: {documentId: $id, digest: \"mark\"}) { outcome } }",
               "variables": {"id": "'$1'"}}'
  curl --silent --fail-with-body "$WRITEWATCH_URL/graphql" --header 'content-type: application/json' --data "$body" >"$work/mark" ||
    fail "a mark was not recorded: $(cat "$work/mark")"
}

touch "$work/watched"
setsid sh "$work/sh watch" >"$work/watched" 2>"$work/watcher.log" &
watcher=$!
deadline=$((SECONDS + 60))
wait_until_watched() {
  [ "$SECONDS" -lt "$deadline" ] || fail "the watcher shows no \"$1\" within a minute: $(cat "$work/watched" "$work/watcher.log")"
  sleep 0.1
}

# The subscription has begun when it shows one of the marks.
marks=0
until [ -s "$work/watched" ]; do
  marks=$((marks + 1))
  mark "before-$marks"
  wait_until_watched "before-$marks"
done

TMPDIR=$work sh "$work/sh walk" >"$work/walked"

mark after
until grep --quiet '"after"' "$work/watched"; do wait_until_watched after; done

compare() { diff --unified --label "README.md: $1" --label "what appears" "$work/$1" -; }
masked <"$work/walked" | compare "json walk"
grep --invert-match --extended-regexp '"(before-[0-9]+|after)"' "$work/watched" | compare "json watch"
echo "walk.sh: README.md's walk works as printed"
