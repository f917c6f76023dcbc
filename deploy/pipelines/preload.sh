# Publishes an image at the gateway and waits for it. Exit codes: 0 Ready, or published if OT_WAIT is false · 1 Failed, refused or not found ·
# 2 wrong input · 124 not Ready within OT_TIMEOUT seconds. `token` prints a token of this job; it is asked for each time, since it may expire.
: "${OT_GATEWAY_URL:?}" "${IMAGE_NAME:?}" "${OT_EVENT_ID:?}" "${OT_EVENT_SOURCE:?}"
data=
field() {
  case "$2" in
    '') return 0 ;;
    *[\"\\]* | *[[:cntrl:]]*) echo "$1: expected no quote, backslash or control character" >&2; exit 2 ;;
  esac
  data="${data}${data:+,}\"$1\":\"$2\""
}
field name "${IMAGE_NAME}"
field namespace "${IMAGE_NAMESPACE:-}"
field version "${IMAGE_VERSION:-}"
field digest "${IMAGE_DIGEST:-}"
field url "${IMAGE_URL:-}"
field sourceType "${IMAGE_SOURCE_TYPE:-}"
field diskSize "${IMAGE_DISK_SIZE:-}"
field checksum "${IMAGE_CHECKSUM:-}"

# The token comes on the standard input, so that no process list shows it.
ask() {
  bearer=$(token) || exit 1
  [ -n "${bearer}" ] || { echo "expected a token of this job, found none" >&2; exit 1; }
  printf 'authorization: Bearer %s\n' "${bearer}" |
    curl --fail-with-body --silent --show-error --max-time 30 --retry 5 --retry-connrefused --header @- "$@" || exit 1
}
ask --header "ce-specversion: 1.0" --header "ce-id: ${OT_EVENT_ID}" --header "ce-source: ${OT_EVENT_SOURCE}" \
  --header "ce-type: ot.pelotech.image.published.v1" --header "ce-time: $(date -u +%Y-%m-%dT%H:%M:%SZ)" \
  --header "content-type: application/json" --data "{${data}}" "${OT_GATEWAY_URL}"
echo "${IMAGE_NAME} is published"
[ "${OT_WAIT:-true}" = true ] || exit 0

deadline=$(($(date +%s) + ${OT_TIMEOUT:-3600})) before=
while :; do
  answer=$(ask --get --data-urlencode "name=${IMAGE_NAME}" ${IMAGE_NAMESPACE:+--data-urlencode "namespace=${IMAGE_NAMESPACE}"} "${OT_GATEWAY_URL}") || {
    echo "${answer}"
    exit 1
  }
  [ "${answer}" = "${before}" ] || echo "${answer}"
  before=${answer}
  case "${answer}" in
    *'"end":"ready"'*) exit 0 ;;
    *'"end":"failed"'*) exit 1 ;;
  esac
  [ "$(date +%s)" -lt "${deadline}" ] || {
    echo "${IMAGE_NAME}: not Ready within ${OT_TIMEOUT:-3600} s; the download continues" >&2
    exit 124
  }
  sleep "${OT_POLL_SECONDS:-10}"
done
