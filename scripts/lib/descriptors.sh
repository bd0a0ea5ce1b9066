# shellcheck shell=bash
# What a started program must not inherit.

# close_inherited: closes all but input, output, errors and the shell's own. For a subshell that is
# about to exec: a lock, a pipe of the caller or a test's log would stay open as long as it runs.
close_inherited() {
  local fd
  for fd in /proc/self/fd/*; do
    fd=${fd##*/}
    if ((fd > 2 && fd != 255)); then eval "exec $fd>&-"; fi
  done
}
