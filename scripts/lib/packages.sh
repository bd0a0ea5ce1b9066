# shellcheck shell=bash
# The Debian 12 packages that each kind of work needs.

# shellcheck disable=SC2034  # read by name in packages_of
packages_for_build=(
  g++ cmake ninja-build ccache mold
  libzookeeper-mt-dev libthrift-dev thrift-compiler libssl-dev libevent-dev libmysqlcppconn-dev
  libboost-dev libboost-log-dev libboost-thread-dev libboost-filesystem-dev
  libyaml-cpp-dev doctest-dev libcctz-dev libexpected-dev libfmt-dev libxxhash-dev libcli11-dev
  nlohmann-json3-dev libzstd-dev zlib1g-dev libmicrohttpd-dev prometheus-cpp-dev
  libcurl4-openssl-dev libical-dev python3
)
# shellcheck disable=SC2034
packages_for_run=(
  libzookeeper-java default-jre-headless mariadb-server-core mariadb-client-core mariadb-client
  procps util-linux python3 python3-thrift thrift-compiler
)
# shellcheck disable=SC2034
packages_for_test=(etcd-server clang-14 libclang-rt-14-dev iproute2 iptables libfaketime python3-croniter
  python3-jsonschema python3-yaml tzdata libquartz2-java ecj groff-base man-db)
# For `scripts/cluster up --databases 3`: MariaDB's scripts that copy a node are in mariadb-server alone.
# shellcheck disable=SC2034
packages_for_galera=(galera-4 mariadb-server rsync lsof iproute2)
# shellcheck disable=SC2034
packages_for_vm=(qemu-system-x86)

# packages_of GROUP...: the packages of the groups, one a line.
packages_of() {
  local group
  for group in "$@"; do
    case $group in
      build | run | test | galera | vm) ;;
      *) misuse "there is no package group '$group' (build, run, test, galera, vm)" ;;
    esac
    local -n packages=packages_for_$group
    printf '%s\n' "${packages[@]}"
    unset -n packages
  done
}

# is_installed PACKAGE: whether it is fully installed.
is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# missing_packages GROUP...: the packages of the groups that are not installed, one a line.
missing_packages() {
  local -a wanted
  mapfile -t wanted < <(packages_of "$@" | sort -u)
  # One query for all; a package that dpkg has never heard of only prints to stderr.
  comm -23 <(printf '%s\n' "${wanted[@]}") \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null |
      sed -n 's/^installed //p' | sort -u)
}
