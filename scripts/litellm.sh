#!/usr/bin/env bash
# Tests our wires against a real third party: the litellm proxy on loopback, in front of our test
# servers. It must understand our requests, we must understand its responses, and the requests it
# makes must pass the test servers' strict checks. Not part of the tests: it installs litellm with
# pip into target/litellm. Needs python3 with venv, and curl.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

place="$PWD/target/litellm"
port="${LITELLM_PORT:-4011}"
mkdir -p "$place"
if [ ! -x "$place/venv/bin/litellm" ]; then
    python3 -m venv "$place/venv"
    "$place/venv/bin/pip" --quiet install 'litellm[proxy]'
fi
cargo build --quiet --package quorum-bench --package quorum-ax

# The vendors end with their input; the proxy must be killed.
rm -f "$place/vendors" "$place"/open.*
mkfifo "$place/open.$$"
"${CARGO_TARGET_DIR:-target}"/debug/quorum-bench --vendor 20 2 20 < "$place/open.$$" > "$place/vendors" &
exec 9> "$place/open.$$"
trap 'exec 9>&-; kill "${proxy:-}" 2>/dev/null || true; rm -f "$place/open.$$"' EXIT
until [ -s "$place/vendors" ]; do sleep 0.1; done
vendors="$(cat "$place/vendors")"

cat > "$place/proxy.yaml" <<YAML
model_list:
  - { model_name: chat, litellm_params: { model: openai/alpha-1, api_base: "$vendors/v1", api_key: none } }
  - { model_name: messages, litellm_params: { model: anthropic/beta-1, api_base: "$vendors", api_key: none } }
  - { model_name: ollama-chat, litellm_params: { model: ollama_chat/gamma-1, api_base: "$vendors" } }
  - { model_name: gemini, litellm_params: { model: gemini/delta-1, api_base: "$vendors/v1beta/models/delta-1", api_key: none } }
litellm_settings: { drop_params: true }
YAML
export LITELLM_MASTER_KEY="sk-$(python3 -c 'import secrets; print(secrets.token_hex(24))')"
"$place/venv/bin/litellm" --config "$place/proxy.yaml" --host 127.0.0.1 --port "$port" > "$place/proxy.log" 2>&1 &
proxy=$!
until curl --silent --output /dev/null --max-time 2 "http://127.0.0.1:$port/health/liveliness"; do
    kill -0 "$proxy" || { tail -20 "$place/proxy.log"; exit 1; }
    sleep 1
done

provider() { printf '[providers.%s]\nwire = "%s"\nbase_url = "http://127.0.0.1:%s/%s"\nmodel = "%s"\nkey_env = "LITELLM_MASTER_KEY"\n' "$@"; }
{
    provider by-chat openai-chat "$port" v1 chat
    provider by-messages anthropic "$port" v1 messages
    provider by-responses openai-responses "$port" v1 chat
    provider by-gemini gemini "$port" v1beta gemini
    provider to-messages openai-chat "$port" v1 messages
    provider to-gemini openai-chat "$port" v1 gemini
    provider to-ollama openai-chat "$port" v1 ollama-chat
} > "$place/config.toml"
export AX_CONFIG="$place/config.toml" AX_DATA_DIR="$place/data"
rm -rf "$AX_DATA_DIR"

# Every participant must answer, with nothing missing, in patterns with free text, forms and votes.
hold() {
    local result
    result="$("${CARGO_TARGET_DIR:-target}"/debug/ax discuss "Tabs or spaces?" --json --quiet "$@")"
    python3 - "$*" "$result" <<'PYTHON'
import json, sys
what, result = sys.argv[1], json.loads(sys.argv[2])
missing = result["integrity"]["missing"]
assert not missing and not result["integrity"]["degraded"], (what, missing, result.get("error"))
print(f"ok  {what}: {len(result['participatingProviders'])} heard, {result['metadata']['totalTokens']} tokens")
PYTHON
}
direct="by-chat,by-messages,by-responses,by-gemini"
through="to-messages,to-gemini,to-ollama,by-chat"
for seats in "$direct" "$through"; do
    hold -p "$seats"
    hold -p "$seats" --pattern critique
    hold -p "$seats" --pattern voting -o "tabs,spaces"
    hold -p "$seats" --pattern debate
done
