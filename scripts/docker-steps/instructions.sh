# The Dockerfile's instructions; sourced by ../docker-steps.sh. An instruction or flag that is not known here fails, so
# that nothing in the Dockerfile goes unchecked without notice.

declare -A stages=()          # name of a stage → its folder
declare -a environment=()     # NAME=VALUE of the stage so far
root= workdir= user= home= entrypoint= command= healthcheck=

# The build context: the project without what .dockerignore names.
make_context() {
  mkdir "$work/context"
  # tar reads the same simple patterns; each is a path from the top.
  sed 's|^|./|' .dockerignore >"$work/ignored"
  tar --create --exclude-from="$work/ignored" . | tar --extract --directory="$work/context"
}

# One instruction a line, without comments and with continued lines joined.
instructions() {
  sed -e '/^[[:space:]]*#/d' -e '/^[[:space:]]*$/d' Dockerfile | sed -e ':join' -e '/\\$/{N;s/\\\n[[:space:]]*//;bjoin' -e '}'
}

carry_out_dockerfile() {
  local instruction rest
  while read -r -u 3 instruction rest; do
    echo "== $instruction $rest =="
    case $instruction in
      FROM) do_from $rest ;;
      WORKDIR) workdir=$rest; mkdir -p "$root$rest" ;;
      COPY) do_copy $rest ;;
      RUN) do_run "$rest" ;;
      ENV) environment+=("$rest") ;;
      USER) do_user "$rest" ;;
      VOLUME) [ -d "$root$rest" ] || fail "the image has no $rest" ;;
      EXPOSE) ;; # only tells the reader
      HEALTHCHECK) healthcheck=${rest#*CMD } ;;
      ENTRYPOINT) entrypoint=$rest ;;
      CMD) command=$rest ;;
      *) fail "unknown instruction: $instruction" ;;
    esac
  done 3< <(instructions)
}

do_from() {
  [ $# = 1 ] || [ "$2" = AS ] || fail "not understood: FROM $*"
  root=$work/${3:-image} workdir=/
  environment=("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
  make_root "$1" "$root"
  do_user root
  stages[${3:-image}]=$root
}

do_user() {
  user=$1
  home=$(chroot "$root" getent passwd "$1" | cut -d : -f 6)
  [ -n "$home" ] || fail "the image has no user $1"
}

do_copy() {
  local from=$work/context
  if [[ $1 == --from=* ]]; then
    from=${stages[${1#--from=}]} || fail "no stage ${1#--from=}"
    shift
  fi
  [[ $1 != --* ]] || fail "not understood: COPY $1"
  local target=${!#} sources=("${@:1:$#-1}")
  [[ $target == /* ]] || target=$workdir/$target
  [ ${#sources[@]} = 1 ] || [[ $target == */ ]] || fail "several sources need a target that ends in /"
  local source
  for source in "${sources[@]}"; do
    if [ -d "$from/$source" ]; then
      # A folder's content is copied, not the folder.
      mkdir -p "$root$target"
      cp --archive "$from/$source/." "$root$target"
    else
      # With a slash at its end the target is a folder, without one the file itself.
      mkdir -p "$root$(dirname "${target/%\//\/.}")"
      cp --archive "$from/$source" "$root$target"
    fi
  done
  # Everything copied belongs to root, whoever made the context.
  chown --recursive root:root "$root$target"
}

do_run() {
  if [ -n "$prebuilt" ] && [[ $1 == "cargo build --release"* ]]; then
    take_prebuilt
  else
    in_root /bin/sh -c "$1"
  fi
}

# Runs a command in the stage.
in_root() {
  stage_prefix
  "${prefix[@]}" "$@"
}

# What comes before a command to run it in the stage: its user, its folder, its environment, and of the host's only what
# names authorities. Each word replaces its process by the next, so that the command has the process id of the whole.
stage_prefix() {
  local name inside=("HOME=$home" "${environment[@]}")
  for name in SSL_CERT_FILE NODE_EXTRA_CA_CERTS; do
    [ -z "${!name:-}" ] || inside+=("$name=/etc/ssl/certs/ca-certificates.crt")
  done
  prefix=(chroot --userspec="$user" "$root" /usr/bin/env --ignore-environment "${inside[@]}"
    /bin/sh -c 'cd "$0" && exec "$@"' "$workdir")
}

# rustc wrote down which files it built the binary and the library from: beside each, under the same name and hash.
built_from() {
  local deps binary library
  deps=$(dirname "$prebuilt")/deps
  binary=$(find "$deps" -samefile "$prebuilt" -print -quit)
  library=$(ls --sort=time "$deps"/libwritewatch-*.rlib | head -n 1)
  library=$deps/$(basename "${library/libwritewatch/writewatch}" .rlib)
  sed --separate -n '1s/^[^:]*: //p' "$binary.d" "$library.d" | tr ' ' '\n'
}

take_prebuilt() {
  local project file missing=0
  project=$(pwd -P)
  for file in $(built_from); do
    file=${file#"$project/"}
    [ -e "$root$workdir/$file" ] || { echo "not in the image when cargo runs: $file" >&2; missing=1; }
  done
  # The manifest names targets that the binary is not built from, and cargo wants to see them all the same.
  cargo fetch --offline --locked --target "$(rustc --print host-tuple)" --manifest-path "$root$workdir/Cargo.toml" || missing=1
  [ "$missing" = 0 ] || fail "a COPY instruction is missing"
  echo "(left out; taken in its place: $prebuilt)"
  install -D "$prebuilt" "$root$workdir/target/release/$(basename "$prebuilt")"
}
