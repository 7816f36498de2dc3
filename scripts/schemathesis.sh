#!/bin/sh
# Fuzzes one of our servers with schemathesis: every response must be described in the OpenAPI
# document, and no request that the document allows may be refused as malformed. The seed is fixed;
# EXAMPLES=200 runs longer, AX=PROGRAM tries a program that is built already. Needs curl and Python
# with venv; the first run installs schemathesis under target/. Further arguments are passed to
# schemathesis.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
tools=$target/schemathesis
if [ ! -x "$tools/bin/schemathesis" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet schemathesis openapi-spec-validator
fi
ax=${AX:-$target/debug/ax}
[ -n "${AX:-}" ] || cargo build --package quorum-ax
data=$(mktemp -d)
printf '[defaults]\nsimulate = "latency=5ms"\n' > "$data/config.toml"
AX_DATA_DIR=$data AX_CONFIG=$data/config.toml "$ax" serve --port 0 --offline 2> "$data/said" &
server=$!
trap 'kill "$server" 2> /dev/null || true; wait "$server" 2> /dev/null || true; rm -rf "$data"' EXIT INT TERM
until grep -qs 'Listening on' "$data/said"; do
    kill -0 "$server"
    sleep 0.1
done
address=$(sed -n 's/.*Listening on \(http:[^ ]*\).*/\1/p' "$data/said")
curl --silent --fail --output "$data/openapi.json" "$address/openapi.json"
"$tools/bin/openapi-spec-validator" "$data/openapi.json"
throw() {
    config=$1
    shift
    "$tools/bin/schemathesis" --config-file "$config" run "$address/openapi.json" \
        --checks all --mode all --max-examples "${EXAMPLES:-20}" --seed 1 --request-timeout 30 --workers 1 \
        --suppress-health-check all "$@"
}
throw scripts/schemathesis.toml "$@"
# Few requests reach an existing discussion, so more runs use one that is over, one that waits for a
# person, one that waits for a ruling on its judge, and the run of a workflow.
one() {
    path=$1 order=$2
    id=$(curl --silent --fail --header 'Content-Type: application/json' --data "$order" "$address$path" |
        sed 's/.*"discussionId":"\([^"]*\)".*/\1/')
    shift 2
    printf '[parameters]\n"path.id" = "%s"\n\n' "$id" | cat - scripts/schemathesis.toml > "$data/one.toml"
    throw "$data/one.toml" --include-path-regex 'discussions/.id.' --exclude-method DELETE \
        --exclude-path-regex '/events$' --phases examples,coverage,fuzzing "$@"
}
one /api/discussions '{"topic":"Tabs or spaces?"}' "$@"
one /api/discussions \
    '{"topic":"Tabs or spaces?","pattern":"roundtable","participants":["claude","me:person"]}' "$@"
one /api/discussions '{"topic":"Tabs or spaces?","pattern":"debate","providers":["claude","gemini","glm"],"judge":"glm","judgeFailure":"ask","simulate":{"latencyMs":0,"dead":["glm"]}}' "$@"
one /api/workflows/runs '{"workflow":{"workflowId":"one","version":"1.0.0","steps":[{"stepId":"ask","type":"prompt","config":{"prompt":"Why?"}}]}}' "$@"
# The same for a response of the panel as a model.
response=$(curl --silent --fail --header 'Content-Type: application/json' \
    --data '{"model":"quorum","input":"Tabs or spaces?"}' "$address/v1/responses" | sed 's/.*"id":"\(resp_[^"]*\)".*/\1/')
printf '[parameters]\n"path.response" = "%s"\n\n' "$response" | cat - scripts/schemathesis.toml > "$data/one.toml"
throw "$data/one.toml" --include-path-regex '^/v1/responses/' --phases examples,coverage,fuzzing "$@"
