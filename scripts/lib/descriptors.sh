# shellcheck shell=bash
# Closes the descriptors that a started program must not inherit.

# close_inherited: closes all except input, output, errors and the shell's own. For a subshell just before
# exec: otherwise a lock, a pipe of the caller or a test's log would stay open as long as the program runs.
close_inherited() {
  local fd
  for fd in /proc/self/fd/*; do
    fd=${fd##*/}
    if ((fd > 2 && fd != 255)); then eval "exec $fd>&-"; fi
  done
}
