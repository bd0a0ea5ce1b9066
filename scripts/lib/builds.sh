# shellcheck shell=bash
# Configuring and building the presets. `root` is the checkout.

# build_folder PRESET
build_folder() {
  case $1 in
    release) echo "$root/build" ;;
    *) echo "$root/build/$1" ;;
  esac
}

# configure PRESET [CMAKE ARG...]: a new folder uses a unity build, because nothing of it is built yet;
# an existing folder stays as its owner made it.
configure() {
  local preset=$1
  shift
  [[ -e $(build_folder "$preset")/CMakeCache.txt ]] || set -- -DROTA_UNITY=ON "$@"
  (cd "$root" && cmake --preset "$preset" "$@" >"$root/build.$preset.log" 2>&1) || {
    cat "$root/build.$preset.log" >&2
    rm -f "$root/build.$preset.log"
    return 1
  }
  mkdir -p "$root/build/logs"
  mv "$root/build.$preset.log" "$root/build/logs/configure-$preset.log"
}

# build PRESET [TARGET...]: without targets, all. Shows Ninja's progress.
build() {
  local preset=$1
  shift
  NINJA_STATUS='[%f/%t %es] ' cmake --build "$(build_folder "$preset")" -j "$(nproc)" \
    ${1:+--target "$@"} >&2
}

# test_targets PRESET LABEL...: the programs behind the tests of these layers, one a line.
test_targets() {
  local folder labels
  folder=$(build_folder "$1")
  shift
  labels=$(IFS='|'; echo "$*")
  ctest --test-dir "$folder" -L "^($labels)$" --show-only=json-v1 2>/dev/null |
    /usr/bin/python3 -c '
import json, re, sys
targets = set(re.findall(r"^build (\S+): phony", open(sys.argv[1]).read(), re.M))
tests = json.load(sys.stdin)["tests"]
names = {test["name"] for test in tests}
names |= {word.rsplit("/", 1)[-1] for test in tests for word in test.get("command", [])}
print("\n".join(sorted(names & targets)))' "$folder/build.ninja"
}
