#!/usr/bin/env bash
# Has real MCP clients call every tool of `ax mcp` and of `/mcp`: the Python SDK, the TypeScript SDK
# and its successor, and the inspector in three eras over both transports. Not part of the tests: it
# installs the clients and a recent Node under target/mcp-clients. Needs npm, and python3 with venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

target="${CARGO_TARGET_DIR:-$PWD/target}"
place="$target/mcp-clients"
mkdir -p "$place"
if [ ! -x "$place/node_modules/.bin/mcp-inspector" ]; then
    printf '{ "private": true, "type": "module" }\n' > "$place/package.json"
    npm install --prefix "$place" --no-save --no-audit --no-fund --loglevel error \
        "node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')@24" \
        '@modelcontextprotocol/sdk@1.32' '@modelcontextprotocol/client@2.4' \
        '@modelcontextprotocol/inspector@2.12'
fi
if [ ! -x "$place/venv/bin/python" ]; then
    python3 -m venv "$place/venv"
    "$place/venv/bin/pip" --quiet install 'mcp==2.3.*'
fi
cargo build --quiet --package quorum-ax

# Simulated voices, a home of their own, and a server that ends with this script.
home="$place/home"
rm -rf "$home"
mkdir -p "$home"
printf '[defaults]\nsimulate = "latency=0ms"\n' > "$home/config.toml"
export AX="$target/debug/ax" AX_CONFIG="$home/config.toml" AX_DATA_DIR="$home/data" OLLAMA_HOST=""
"$AX" serve --port 0 --offline 2> "$home/serve.log" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
until grep -q 'Listening on' "$home/serve.log"; do sleep 0.1; done
MCP_URL="$(sed -n 's/.*Listening on \(http[^ ]*\).*/\1/p' "$home/serve.log")/mcp"
export MCP_URL
PATH="$(ls -d "$place"/node_modules/node-linux-*/bin):$PATH"
export PATH

failed=0
row() { # name, command…
    local name="$1"
    shift
    if "$@" > "$home/last.log" 2>&1; then
        printf '| %s | passed | %s |\n' "$name" "$(tail -1 "$home/last.log")"
    else
        failed=1
        printf '| %s | FAILED | %s |\n' "$name" "$(tail -5 "$home/last.log" | tr '\n' ' ')"
    fi
}
printf '| client | result | detail |\n|---|---|---|\n'
row 'Python mcp, stdio' "$place/venv/bin/python" scripts/mcp/client.py stdio
row 'Python mcp, HTTP' "$place/venv/bin/python" scripts/mcp/client.py http
cp scripts/mcp/*.mjs "$place/"
row 'TypeScript sdk, stdio' node "$place/sdk.mjs" stdio
row 'TypeScript sdk, HTTP' node "$place/sdk.mjs" http
row 'TypeScript client, stdio' node "$place/client.mjs" stdio
row 'TypeScript client, HTTP' node "$place/client.mjs" http
for era in legacy auto modern; do
    for tool in ax_history ax_list_models ax_status; do
        row "inspector, stdio, $era, $tool" node "$place/node_modules/.bin/mcp-inspector" --cli \
            --protocol-era "$era" --method tools/call --tool-name "$tool" "$AX" mcp --offline
        row "inspector, HTTP, $era, $tool" node "$place/node_modules/.bin/mcp-inspector" --cli \
            --protocol-era "$era" --transport http --method tools/call --tool-name "$tool" "$MCP_URL"
    done
    row "inspector, stdio, $era, ax_discuss" node "$place/node_modules/.bin/mcp-inspector" --cli \
        --protocol-era "$era" --method tools/call --tool-name ax_discuss --tool-arg 'topic=Tabs or spaces?' \
        "$AX" mcp --offline
    row "inspector, HTTP, $era, ax_discuss" node "$place/node_modules/.bin/mcp-inspector" --cli \
        --protocol-era "$era" --transport http --method tools/call --tool-name ax_discuss \
        --tool-arg 'topic=Tabs or spaces?' "$MCP_URL"
done
exit "$failed"
