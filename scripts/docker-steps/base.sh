# What stands in for the base images; sourced by ../docker-steps.sh, which says what `work` and `fail` are.

# The mirror that apt on this machine takes Debian's packages from.
configured_mirror() {
  apt-get indextargets --format '$(REPO_URI)' "Codename: $1" 'Component: main' 'Identifier: Packages' | head -n 1
}

# A minimal Debian, made once for all stages.
make_debian() {
  local suite=$1 mirror
  [ ! -d "$work/debian" ] || return 0
  mirror=$(configured_mirror "$suite")
  [ -n "$mirror" ] || fail "apt on this machine has no mirror for Debian $suite"
  echo "== base: Debian $suite =="
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$work/debian" "$mirror" >"$work/debootstrap.log" ||
    { tail -n 20 "$work/debootstrap.log" >&2; fail "debootstrap failed"; }
  # As an engine does: the host's resolver, and here also the authorities that the host trusts.
  cp /etc/resolv.conf /etc/hosts "$work/debian/etc/"
  cp /etc/ssl/certs/ca-certificates.crt "$work/debian/etc/ssl/certs/"
}

# Makes the folder of a stage from the image that its FROM line names.
make_root() {
  local image=$1 root=$2
  case $image in
    node:20-bookworm-slim) from_debian bookworm "$root" && add_node 20 "$root" ;;
    rust:1.95-bookworm) from_debian bookworm "$root" && add_rust 1.95 "$root" ;;
    debian:bookworm-slim) from_debian bookworm "$root" ;;
    *) fail "no stand-in for the image $image" ;;
  esac
}

from_debian() {
  make_debian "$1"
  cp --archive --reflink=auto "$work/debian" "$2"
  mount --bind /dev "$2/dev"
  mount -t proc proc "$2/proc"
}

add_node() {
  local have
  have=$(node --version)
  [[ $have == "v$1."* ]] || fail "the Dockerfile asks for Node.js $1, this machine has $have"
  local modules
  modules=$(dirname "$(dirname "$(dirname "$(realpath "$(command -v npm)")")")")
  mkdir -p "$2/usr/local/lib/node_modules"
  cp "$(realpath "$(command -v node)")" "$2/usr/local/bin/node"
  cp --archive "$modules/npm" "$2/usr/local/lib/node_modules/"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$2/usr/local/bin/npm"
}

add_rust() {
  # The toolchain is only needed, and only then worth its gigabyte, when it builds.
  [ -z "$prebuilt" ] || return 0
  local have
  have=$(rustc --version | cut -d ' ' -f 2)
  [[ $have == "$1."* ]] || fail "the Dockerfile asks for Rust $1, this machine has $have"
  chroot "$2" apt-get update --quiet >"$work/apt.log"
  chroot "$2" apt-get install --yes --quiet --no-install-recommends gcc libc6-dev >>"$work/apt.log" || fail "$(cat "$work/apt.log")"
  cp --archive "$(rustc --print sysroot)"/{bin,lib} "$2/usr/local/"
  # What was downloaded once is not downloaded again; what is missing still is.
  local registry=${CARGO_HOME:-$HOME/.cargo}/registry
  mkdir -p "$2/root/.cargo/registry"
  for part in index cache; do
    [ ! -d "$registry/$part" ] || cp --archive "$registry/$part" "$2/root/.cargo/registry/"
  done
}
