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
mkdir -p "$home/workflows"
printf '[defaults]\nsimulate = "latency=0ms"\n' > "$home/config.toml"
cat > "$home/workflows/two-steps.yaml" <<'YAML'
workflowId: two-steps
version: 1.0.0
steps:
  - { stepId: first, type: prompt, config: { prompt: "List reasons for {{input.what}}." } }
  - { stepId: second, type: prompt, config: { prompt: "Weigh {{steps.first.output}}." } }
YAML
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

# Every tool with the inspector, which checks schemas itself. The discussion is over, so a pause and
# words for it are refused, which the inspector reports as a failed call.
id="$("$AX" history --json | sed -n 's/.*"discussionId": *"\([^"]*\)".*/\1/p' | head -1)"
inspect() { # era, transport, arguments…
    local era="$1" transport="$2"
    shift 2
    # The server comes first: a list of arguments takes everything after it.
    # It passes no variables of ours on by itself.
    case "$transport" in
        stdio)
            set -- "$AX" mcp --offline "$@" -e "AX_CONFIG=$AX_CONFIG" -e "AX_DATA_DIR=$AX_DATA_DIR"
            ;;
        http) set -- "$MCP_URL" --transport http "$@" ;;
    esac
    node "$place/node_modules/.bin/mcp-inspector" --cli "$@" --protocol-era "$era"
}
refused() { # code, command…
    local code="$1"
    shift
    "$@" | tee "$home/refused.log" || true
    grep -q "$code" "$home/refused.log"
}
for era in legacy auto modern; do
    for transport in stdio http; do
        name="inspector, $transport, $era"
        row "$name, list of tools" inspect "$era" "$transport" --method tools/list --strict
        for tool in ax_history ax_list_models ax_status; do
            row "$name, $tool" inspect "$era" "$transport" --method tools/call --tool-name "$tool"
        done
        for tool in ax_discuss ax_discuss_quick ax_discuss_recursive; do
            row "$name, $tool" inspect "$era" "$transport" --method tools/call --tool-name "$tool" \
                --tool-arg "topic=Tabs or spaces, $era, $transport?"
        done
        row "$name, ax_result" inspect "$era" "$transport" --method tools/call --tool-name ax_result \
            --tool-arg "id=$id"
        row "$name, ax_fork" inspect "$era" "$transport" --method tools/call --tool-name ax_fork \
            --tool-arg "id=$id" --tool-arg 'changes={"rounds":2}'
        row "$name, ax_workflow_run" inspect "$era" "$transport" --method tools/call \
            --tool-name ax_workflow_run --tool-arg 'name=two-steps' --tool-arg 'input={"what":"tabs"}'
        row "$name, ax_control" refused DISCUSSION_OVER inspect "$era" "$transport" \
            --method tools/call --tool-name ax_control --tool-arg "id=$id" --tool-arg 'action=pause'
        row "$name, ax_say" refused DISCUSSION_OVER inspect "$era" "$transport" \
            --method tools/call --tool-name ax_say --tool-arg "id=$id" --tool-arg 'text=Too late.'
    done
done
exit "$failed"
