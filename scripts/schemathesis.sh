#!/bin/sh
# Throws what schemathesis can think of at a server of our own: nothing may come back that the OpenAPI document does not announce.
# Needs Python with venv; installs schemathesis under target/ the first time. Further arguments go to schemathesis.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
tools=$target/schemathesis
if [ ! -x "$tools/bin/schemathesis" ]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet schemathesis
fi
cargo build --package ax
data=$(mktemp -d)
AX_DATA_DIR=$data AX_CONFIG= "$target/debug/ax" serve --port 0 --offline 2> "$data/said" &
server=$!
trap 'kill "$server" 2> /dev/null || true; wait "$server" 2> /dev/null || true; rm -rf "$data"' EXIT INT TERM
until grep -q 'Listening on' "$data/said"; do
    kill -0 "$server"
    sleep 0.1
done
address=$(sed -n 's/.*Listening on \(http:[^ ]*\).*/\1/p' "$data/said")
# A stream goes on until its discussion is over, so the two that stream are left to the tests in crates/server.
"$tools/bin/schemathesis" --config-file scripts/schemathesis.toml run "$address/openapi.json" \
    --checks all --mode all --max-examples "${EXAMPLES:-50}" --request-timeout 30 --workers 1 \
    --exclude-path /api/discussion --exclude-path-regex '/events$' \
    --suppress-health-check all "$@"
