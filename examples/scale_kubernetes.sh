#!/bin/bash
# A hook for pools (docs/autoscale.md) that gives a Deployment of Kubernetes as many replicas as the pool should have
# workers. Workers must have their pods' names as ids (`id` empty: the host's name).
#
#   hooks: [{name: k8s, timeout: 30s, command: [/usr/share/rota/examples/scale_kubernetes.sh, jobs, rota-workers]}]
#
#   scale_kubernetes.sh NAMESPACE DEPLOYMENT
#
# Pods that may be stopped get the lowest deletion cost, so that Kubernetes takes these and no others, and are deleted
# at the end, also when load came back. Replicas never fall by more than the named pods that still exist: `keep` may
# be lower although nobody is named, since workers start or their sessions have ended. The Deployment remembers the
# last sequence number and its replicas: an older call is dropped, and the same one again changes nothing.
#
# KUBE_API (https://kubernetes.default.svc), KUBE_TOKEN_FILE and KUBE_CA_FILE (those of a pod's service account; empty:
# none). Its role needs get and patch of the deployment and of deployments/scale, and patch and delete of pods.
set -euo pipefail
[[ $# == 2 ]] || { echo "usage: scale_kubernetes.sh NAMESPACE DEPLOYMENT" >&2; exit 2; }
api=${KUBE_API:-https://kubernetes.default.svc}
account=/var/run/secrets/kubernetes.io/serviceaccount
token_file=${KUBE_TOKEN_FILE-$account/token}
ca_file=${KUBE_CA_FILE-$account/ca.crt}
deployment=$api/apis/apps/v1/namespaces/$1/deployments/$2
pods=$api/api/v1/namespaces/$1/pods
cheapest='{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-1000000"}}}'

# The token goes by a file descriptor: arguments are seen by everyone on the host.
ask() {
  local -a words=(--silent --show-error --max-time 10)
  if [[ -n $ca_file ]]; then words+=(--cacert "$ca_file"); fi
  if [[ -n $token_file ]]; then
    curl "${words[@]}" --header @<(printf 'Authorization: Bearer %s\n' "$(<"$token_file")") "$@"
  else
    curl "${words[@]}" "$@"
  fi
}
patch() {
  ask --request PATCH --header 'Content-Type: application/merge-patch+json' --data "$2" "${@:3}" "$1"
}
# The pod's answer in `reply`; false: there is no such pod. Any other failure ends the call: it is repeated.
of_pod() {
  reply=$("$@" --write-out '\n%{http_code}')
  local status=${reply##*$'\n'}
  if [[ $status == 404 ]]; then return 1; fi
  [[ $status == 2?? ]] || { echo "pod $pod: status $status: ${reply%$'\n'*}" >&2; exit 1; }
}
number_of() { sed -n "s/.*\"$1\":\\(-\\{0,1\\}[0-9]\\{1,\\}\\).*/\\1/p" <<<"$call"; }
note_of() { tr -d '\n' <<<"$found" | sed -n "s/.*\"rota\\/$1\": *\"\\([0-9]*\\)\".*/\\1/p"; }

call=$(cat)
sequence=$(number_of sequence)
keep=$(number_of keep)
[[ -n $sequence && -n $keep ]] || { echo "no call of a hook: $call" >&2; exit 2; }
found=$(ask --fail "$deployment")
last=$(note_of sequence)
if ((sequence < ${last:-0})); then
  echo "$sequence is older than $last: dropped" >&2
  exit 0
fi

# Named pods that are there, and those of them that are not ending already.
there=() standing=0
while IFS= read -r pod; do
  if of_pod patch "$pods/$pod" "$cheapest"; then
    there+=("$pod")
    grep -q '"deletionTimestamp": *"' <<<"$reply" || standing=$((standing + 1))
  else
    echo "pod $pod is gone already" >&2
  fi
done < <(grep -o '"worker":"[A-Za-z0-9.-]*"' <<<"$call" | cut -d'"' -f4)

scale=$(ask --fail "$deployment/scale" | tr -d ' \n')
current=$(sed -n 's/.*"spec":{\("replicas":\)\{0,1\}\([0-9]*\)}.*/0\2/p' <<<"$scale")
[[ -n $current ]] || { echo "no scale of $2: $scale" >&2; exit 1; }
fewest=$((10#$current - standing))
replicas=$keep
if ((sequence == ${last:-0})); then replicas=$(note_of replicas); fi
if ((${replicas:=$keep} < fewest)); then replicas=$fewest; fi
notes="\"rota/sequence\":\"$sequence\",\"rota/replicas\":\"$replicas\""
patch "$deployment" "{\"metadata\":{\"annotations\":{$notes}}}" --fail --output /dev/null
patch "$deployment/scale" "{\"spec\":{\"replicas\":$replicas}}" --fail --output /dev/null
for pod in "${there[@]}"; do
  of_pod ask --request DELETE "$pods/$pod" || true
done
