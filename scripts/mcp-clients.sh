#!/usr/bin/env bash
# Has real MCP clients use `ax mcp` and `/mcp`. The parts, all of them by default:
#   sdks       the Python SDK, the TypeScript SDK and its successor call every tool
#   inspector  the inspector calls every tool in three eras over both transports
#   times      real time, counted at a provider: 70 s, a client that gives up after 1 s, kill -9
#   load       1,000 requests, and 200 discussions at once
# Every answer is checked against its tool's output schema. Not part of the tests: it installs the
# clients and a recent Node under target/mcp-clients. Needs npm, and python3 with venv.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
parts="${*:-sdks inspector times load}"

target="${CARGO_TARGET_DIR:-$PWD/target}"
place="$target/mcp-clients"
mkdir -p "$place"
if [ ! -e "$place/ready-2" ]; then
    printf '{ "private": true, "type": "module" }\n' > "$place/package.json"
    npm install --prefix "$place" --no-save --no-audit --no-fund --loglevel error \
        "node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')@24" \
        '@modelcontextprotocol/sdk@1.32' '@modelcontextprotocol/client@2.4' \
        '@modelcontextprotocol/inspector@2.12' 'ajv@8' 'ajv-formats@3'
    python3 -m venv "$place/venv"
    "$place/venv/bin/pip" --quiet install 'mcp==2.3.*' 'jsonschema[format]==4.*'
    touch "$place/ready-2"
fi
cargo build --quiet --package quorum-ax
cp scripts/mcp/*.mjs "$place/"
PATH="$(ls -d "$place"/node_modules/node-linux-*/bin):$PATH"
export PATH

# A home of its own, simulated voices unless a part has a provider, and processes that end with this
# script. The log is on: it must not reach standard output.
home="$place/home"
rm -rf "$home"
mkdir -p "$home/workflows"
printf '[defaults]\nsimulate = "latency=0ms"\n[server]\nmax_running = 50\nmax_queued = 100\n' > "$home/config.toml"
cat > "$home/workflows/two-steps.yaml" <<'YAML'
workflowId: two-steps
version: 1.0.0
steps:
  - { stepId: first, type: prompt, config: { prompt: "List reasons for {{input.what}}." } }
  - { stepId: second, type: prompt, config: { prompt: "Weigh {{steps.first.output}}." } }
YAML
export AX="$target/debug/ax" AX_CONFIG="$home/config.toml" AX_DATA_DIR="$home/data" OLLAMA_HOST="" AX_LOG=json
started=()
trap 'kill "${started[@]}" 2> /dev/null || true' EXIT
"$AX" serve --port 0 --offline 2> "$home/serve.log" &
started+=($!)
until grep -q 'Listening on' "$home/serve.log"; do sleep 0.1; done
MCP_URL="$(sed -n 's/.*Listening on \(http[^ ]*\).*/\1/p' "$home/serve.log")/mcp"
export MCP_URL

failed=0
row() { # name, command…
    local name="$1"
    shift
    if "$@" > "$home/last.log" 2> "$home/last.err"; then
        printf '| %s | passed | %s |\n' "$name" "$(tail -1 "$home/last.log")"
    else
        failed=1
        printf '| %s | FAILED | %s |\n' "$name" "$(cat "$home/last.log" "$home/last.err" | tail -12 | tr '\n' ' ')"
    fi
}

sdks() {
    row 'Python mcp, stdio' "$place/venv/bin/python" scripts/mcp/client.py stdio
    row 'Python mcp, HTTP' "$place/venv/bin/python" scripts/mcp/client.py http
    row 'TypeScript sdk, stdio' node "$place/sdk.mjs" stdio
    row 'TypeScript sdk, HTTP' node "$place/sdk.mjs" http
    row 'TypeScript client, stdio' node "$place/client.mjs" stdio
    row 'TypeScript client, HTTP' node "$place/client.mjs" http
}

# The inspector checks schemas itself, of answers that are no errors; ajv checks all. The discussion
# is over, so a pause and words for it are refused, which the inspector reports as a failed call.
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
called() { # tool, command…
    local tool="$1"
    shift
    "$@" > "$home/answer.json"
    node "$place/check.mjs" "$home/tools.json" "$tool" "$home/answer.json"
}
refused() { # code, tool, command…
    local code="$1" tool="$2"
    shift 2
    "$@" > "$home/answer.json" || true
    node "$place/check.mjs" "$home/tools.json" "$tool" "$home/answer.json" "$code"
}
inspector() {
    "$AX" discuss 'Tabs or spaces, in the inspector?' --offline --quiet > /dev/null 2>&1
    local id era transport name tool
    id="$("$AX" history --json | sed -n 's/.*"discussionId": *"\([^"]*\)".*/\1/p' | head -1)"
    inspect legacy http --method tools/list > "$home/tools.json"
    for era in legacy auto modern; do
        for transport in stdio http; do
            name="inspector, $transport, $era"
            call() { # tool, arguments…
                local tool="$1"
                shift
                row "$name, $tool" called "$tool" \
                    inspect "$era" "$transport" --method tools/call --tool-name "$tool" "$@"
            }
            row "$name, list of tools" inspect "$era" "$transport" --method tools/list --strict
            call ax_history
            call ax_list_models
            call ax_status
            for tool in ax_discuss ax_discuss_quick ax_discuss_recursive; do
                call "$tool" --tool-arg "topic=Tabs or spaces, $era, $transport?"
            done
            call ax_result --tool-arg "id=$id"
            call ax_fork --tool-arg "id=$id" --tool-arg 'changes={"rounds":3}'
            call ax_workflow_run --tool-arg 'name=two-steps' --tool-arg 'input={"what":"tabs"}'
            row "$name, ax_control" refused DISCUSSION_OVER ax_control inspect "$era" "$transport" \
                --method tools/call --tool-name ax_control --tool-arg "id=$id" --tool-arg 'action=pause'
            row "$name, ax_say" refused DISCUSSION_OVER ax_say inspect "$era" "$transport" \
                --method tools/call --tool-name ax_say --tool-arg "id=$id" --tool-arg 'text=Too late.'
        done
    done
}

# A provider that takes as long as the end of a model's name says, and counts its calls.
times() {
    node "$place/vendor.mjs" > "$home/vendor" &
    started+=($!)
    until [ -s "$home/vendor" ]; do sleep 0.1; done
    VENDOR="$(cat "$home/vendor")"
    export VENDOR
    local model
    for model in anna-70000 ben-70000 cleo-3000 dan-3000 eva-300 finn-6000; do
        printf '[providers.%s]\nwire = "openai-chat"\nbase_url = "%s/v1"\nmodel = "%s"\n' \
            "${model%-*}" "$VENDOR" "$model"
    done > "$home/vendors.toml"
    AX_CONFIG="$home/vendors.toml" AX_DATA_DIR="$home/counted" \
        row 'real time, counted at the provider' node "$place/times.mjs"
}

# What the first run leaves queued is not for the second to run.
load() {
    AX_DATA_DIR="$home/queued" \
        row '1,000 requests and 200 discussions at once, stdio' node "$place/load.mjs" stdio
    row '1,000 requests and 200 discussions at once, HTTP' node "$place/load.mjs" http
}

printf '| client | result | detail |\n|---|---|---|\n'
for part in $parts; do
    case "$part" in
        sdks | inspector | times | load) "$part" ;;
        *)
            printf 'there is no part %s\n' "$part" >&2
            exit 2
            ;;
    esac
done
exit "$failed"
