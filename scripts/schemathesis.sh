#!/bin/sh
# Throws what schemathesis can think of at a server of our own: nothing may come back that the OpenAPI document does not announce.
# Needs curl and Python with venv; installs schemathesis under target/ the first time. Further arguments go to schemathesis.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
tools=$target/schemathesis
if [ ! -x "$tools/bin/schemathesis" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet schemathesis openapi-spec-validator
fi
cargo build --package ax
data=$(mktemp -d)
printf '[defaults]\nsimulate = "latency=5ms"\n' > "$data/config.toml"
AX_DATA_DIR=$data AX_CONFIG=$data/config.toml "$target/debug/ax" serve --port 0 --offline 2> "$data/said" &
server=$!
trap 'kill "$server" 2> /dev/null || true; wait "$server" 2> /dev/null || true; rm -rf "$data"' EXIT INT TERM
until grep -qs 'Listening on' "$data/said"; do
    kill -0 "$server"
    sleep 0.1
done
address=$(sed -n 's/.*Listening on \(http:[^ ]*\).*/\1/p' "$data/said")
curl --silent --fail --output "$data/openapi.json" "$address/openapi.json"
"$tools/bin/openapi-spec-validator" "$data/openapi.json"
"$tools/bin/schemathesis" --config-file scripts/schemathesis.toml run "$address/openapi.json" \
    --checks all --mode all --max-examples "${EXAMPLES:-50}" --request-timeout 30 --workers 1 \
    --suppress-health-check all "$@"
