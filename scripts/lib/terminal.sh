# shellcheck shell=bash
# Messages of the scripts to a person: steps, notes and refusals with a remedy, coloured only on a
# terminal. All of them go to stderr; stdout is for data.

if [[ -t 2 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
  bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' dim=$'\e[2m' plain=$'\e[0m'
else
  bold='' red='' green='' dim='' plain=''
fi

# step TEXT: a new part of the work begins.
step() { printf '%s==> %s%s\n' "$bold" "$*" "$plain" >&2; }

# note TEXT: something worth knowing.
note() { printf '    %s%s%s\n' "$dim" "$*" "$plain" >&2; }

# good TEXT: a step succeeded.
good() { printf '    %s%s%s\n' "$green" "$*" "$plain" >&2; }

# complain WHAT [REMEDY]: an error that does not end the script, even when it cannot be written (stderr may
# be a file on a full disk).
complain() {
  printf '%serror: %s%s\n' "$red" "$1" "$plain" >&2 || true
  if [[ -n ${2:-} ]]; then printf '       %s\n' "$2" >&2 || true; fi
}

# refuse WHAT REMEDY: an error that ends the script with status 1.
refuse() { complain "$@"; exit 1; }

# misuse WHAT: wrong arguments; ends the script with status 2 and refers to --help.
misuse() { complain "$1" "see: ${0##*/} --help"; exit 2; }

# print_help FILE: the comment block at the head of a script is its --help.
print_help() {
  local line
  while IFS= read -r line; do
    case $line in
      '#!'*) ;;
      '# '*) printf '%s\n' "${line:2}" ;;
      '#') printf '\n' ;;
      *) return 0 ;;
    esac
  done <"$1"
}

# read_clock: puts the wall clock in milliseconds into $now_ms. Starts no process.
read_clock() {
  local at=${EPOCHREALTIME/[.,]/}
  now_ms=$((at / 1000))
}

# nap SECONDS: waits without starting a process.
nap() {
  if [[ -z ${nap_fd:-} ]]; then exec {nap_fd}<> <(:); fi
  read -r -t "$1" -u "$nap_fd" || true
}

# await SECONDS COMMAND...: repeats COMMAND every 20 ms until it succeeds; fails after SECONDS.
await() {
  local deadline now_ms
  read_clock
  deadline=$((now_ms + $1 * 1000))
  shift
  until "$@"; do
    read_clock
    if ((now_ms >= deadline)); then return 1; fi
    nap 0.02
  done
}
