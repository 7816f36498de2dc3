#!/usr/bin/env bash
# Runs the protocol's own conformance suite in both eras against a fixture on our transport and
# behind our guard. A failure that scripts/mcp/explained.json does not explain is an error, and so
# is an explanation that nothing needs. Not part of the tests: it installs the suite and a recent
# Node under target/mcp-conformance. Needs npm.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${CARGO_TARGET_DIR:-$PWD/target}"
place="$target/mcp-conformance"
mkdir -p "$place"
if [ ! -e "$place/ready" ]; then
    printf '{ "private": true, "type": "module" }\n' > "$place/package.json"
    npm install --prefix "$place" --no-save --no-audit --no-fund --loglevel error \
        "node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')@24" \
        '@modelcontextprotocol/conformance@0.2.0-alpha.12'
    touch "$place/ready"
fi
PATH="$(ls -d "$place"/node_modules/node-linux-*/bin):$PATH"
export PATH
cargo test --quiet --package quorum-server --lib --no-run

# The fixture serves until its input ends.
rm -rf "$place/results" "$place"/input.*
mkfifo "$place/input.$$"
QUORUM_MCP_FIXTURE=1 cargo test --quiet --package quorum-server --lib -- --exact --nocapture \
    mcp::tests::fixture::serves_the_conformance_suite < "$place/input.$$" > "$place/fixture.log" 2>&1 &
exec 9> "$place/input.$$"
trap 'exec 9>&-; rm -f "$place/input.$$"' EXIT
until grep -q 'fixture at' "$place/fixture.log"; do sleep 0.1; done
url="$(sed -n 's/^fixture at //p' "$place/fixture.log")"

suite() { # era, arguments…
    local era="$1"
    shift
    mkdir -p "$place/results/$era"
    (cd "$place/results/$era" && node "$place/node_modules/.bin/conformance" server --url "$url" --output-dir . "$@" > log 2>&1) || true
}
suite 2025-11-25 --spec-version 2025-11-25
suite 2026-07-28 --requirements 2026-07-28
node scripts/mcp/conformance.mjs "$place/results" scripts/mcp/explained.json
