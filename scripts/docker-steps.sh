#!/usr/bin/env bash
# Does what the Dockerfile says without a Docker engine: reads its instructions and carries them out, stage by stage, in
# Debian folders (debootstrap, chroot), then runs the result as the image would and asks its health check.
#
#   scripts/docker-steps.sh                      everything, the release build included
#   scripts/docker-steps.sh --prebuilt BINARY    takes BINARY in place of what the cargo step would build, after a check
#                                                that every file BINARY was built from is there for that step
#
# What stands in for the base images is this machine's own: Debian's packages from its configured mirror, Node.js and the
# Rust toolchain as copies, of the versions that the FROM lines name. What it cannot show: that the real images have what
# these have, layer caching, and anything about a registry. Needs root; everything is mounted in a namespace of its own.
set -euo pipefail
cd "$(dirname "$(realpath "$0")")/.."

fail() { echo "docker-steps.sh: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail "debootstrap and chroot need root"

if [ "${1:-}" != --in-namespace ]; then
  exec unshare --mount --pid --mount-proc --fork --kill-child "$0" --in-namespace "$@"
fi
shift
prebuilt=
if [ "${1:-}" = --prebuilt ]; then prebuilt=$(realpath "$2"); fi

work=$(mktemp --directory --tmpdir writewatch-image.XXXXXX)
network=$(basename "$work")
clean_up() {
  ip netns delete "$network" 2>/dev/null || true
  # Unmounted first, and on one file system: removing the folder must never reach into what is mounted inside it.
  umount "$work"/*/proc "$work"/*/dev 2>/dev/null || true
  rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

. scripts/docker-steps/base.sh
. scripts/docker-steps/instructions.sh
. scripts/docker-steps/container.sh

make_context
carry_out_dockerfile
run_container
echo "docker-steps.sh: every step of the Dockerfile works${prebuilt:+, leaving out the release build}"
