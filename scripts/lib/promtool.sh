# shellcheck shell=bash
# Prometheus's own checker, for the test of the pages. Installing its Debian package would start a server,
# so only this one program is taken out of the package.

# provide_promtool FOLDER: puts promtool into FOLDER unless it is there or on the PATH; fails when it
# is not available.
provide_promtool() {
  local work
  if [[ -x $1/promtool ]] || command -v promtool >/dev/null; then return 0; fi
  work=$(mktemp -d) || return
  if (cd "$work" && apt-get download prometheus && dpkg-deb -x prometheus_*.deb .) >/dev/null 2>&1; then
    mkdir -p "$1"
    mv "$work/usr/bin/promtool" "$1/promtool"
  fi
  rm -rf "$work"
  [[ -x $1/promtool ]]
}
