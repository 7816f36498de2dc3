#!/bin/sh
# Runs the vendors' own clients, and programs built on them, against `ax serve` with a fake vendor:
# chat, streaming, structured output and errors. Then three programs with our address in place of
# their vendor's: promptfoo, Codex and Claude Code. Prints a table of what each showed. Needs Python
# with venv and npm; everything is installed under target/. CLIENTS="openai-2 ai" runs only these.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
case $target in /*) ;; *) target=$PWD/$target ;; esac
tools=$target/panel-clients
here=$PWD/scripts/panel-clients
mkdir -p "$tools"
ax=${AX:-$target/debug/ax}
[ -x "$ax" ] || cargo build --package quorum-ax

# One environment for each line: its name, and what it needs. It is made anew when that changes.
is_ready() {
    ready=$tools/$1/ready
    shift
    [ -f "$ready" ] && [ "$(cat "$ready")" = "$*" ]
}
python_env() {
    name=$1
    shift
    if ! is_ready "$name" "$@"; then
        python3 -m venv "$tools/$name" && "$tools/$name/bin/pip" install --quiet "$@" &&
            echo "$*" > "$tools/$name/ready"
    fi
}
node_env() {
    name=$1
    shift
    if ! is_ready "$name" "$@"; then
        mkdir -p "$tools/$name" &&
            (cd "$tools/$name" && echo '{"type":"module","private":true}' > package.json &&
                npm install --silent --no-audit --no-fund node@22 "$@") && echo "$*" > "$tools/$name/ready"
    fi
}

data=$(mktemp -d)
python3 "$here/vendor.py" > "$data/port" &
vendor=$!
trap 'kill "$vendor" "${server:-}" 2> /dev/null || true; rm -rf "$data"' EXIT INT TERM
until [ -s "$data/port" ]; do sleep 0.1; done
VENDOR=http://127.0.0.1:$(cat "$data/port")
MOST=4
printf '[defaults]\nproviders = ["alpha", "beta", "gamma"]\n[server]\nmax_running = %s\n' "$MOST" > "$data/config.toml"
for name in alpha beta gamma; do
    printf '[providers.%s]\nwire = "openai-chat"\nbase_url = "%s/v1"\nmodel = "%s-1"\nprice = { input = 1, output = 2 }\n' \
        "$name" "$VENDOR" "$name" >> "$data/config.toml"
done
AX_DATA_DIR=$data AX_CONFIG=$data/config.toml "$ax" serve --port 0 2> "$data/said" &
server=$!
until grep -qs 'Listening on' "$data/said"; do
    kill -0 "$server"
    sleep 0.1
done
PANEL=$(sed -n 's/.*Listening on \(http:[^ ]*\).*/\1/p' "$data/said" | sed 's,/*$,,')
export PANEL VENDOR MOST OPENAI_API_KEY=none ANTHROPIC_API_KEY=none OPENROUTER_API_KEY=none LLM_USER_PATH="$data/llm"

is_wanted() {
    case " ${CLIENTS:-$1} " in *" $1 "*) ;; *) return 1 ;; esac
}
run() {
    name=$1
    shift
    if told=$("$@" 2> "$data/error"); then
        printf '%s\n' "$told"
    else
        why=$(grep -E "Error|error" "$data/error" | tail -1 | cut -c1-500)
        printf '| %s | FAILED | %s |\n' "$name" "${why:-$(tail -1 "$data/error" | cut -c1-500)}"
        failed=1
    fi
}
python() {
    name=$1 script=$2
    shift 2
    is_wanted "$name" || return 0
    python_env "$name" "$@" > /dev/null
    run "$name" "$tools/$name/bin/python" "$here/$script" "$name"
}
javascript() {
    is_wanted "$1" || return 0
    node_env js openai@6.49 @openrouter/sdk@1.3.19 @anthropic-ai/sdk ai@6 @ai-sdk/openai-compatible@2 @ai-sdk/openai@3 zod > /dev/null
    cp "$here"/*.mjs "$tools/js/"
    run "$1" "$tools/js/node_modules/.bin/node" "$tools/js/$2" "$1"
}
# A program that is large or closed: skipped with a word where it can't be installed. It sees no
# variables of the caller, and keeps its files in the temporary folder.
program() {
    name=$1 package=$2
    is_wanted "$name" || return 0
    if ! node_env "$name" "$package" > /dev/null 2>&1; then
        printf '| %s | skipped | %s could not be installed |\n' "$name" "$package"
        return 0
    fi
    bin=$tools/$name/node_modules/.bin
    mkdir -p "$data/$name"
    version=$(sed -n 's/.*"version": "\([^"]*\)".*/\1/p' "$tools/$name/node_modules/${package%@latest}/package.json" | head -1)
    run "$name" env -i PATH="$bin:/usr/bin:/bin" HOME="$data/$name" PANEL="$PANEL" VERSION="$version" \
        OPENAI_API_KEY=none ANTHROPIC_API_KEY=none sh "$here/$name.sh" "$name" "$data/$name"
}
failed=0
echo '| client | result | what it showed |'
echo '|---|---|---|'
python openai-2 openai_client.py 'openai>=2.54,<3'
python openai-3 openai_client.py 'openai>=3,<4'
javascript openai-js openai.mjs
python openrouter openrouter_client.py 'openrouter>=1.3.84'
javascript openrouter-js openrouter.mjs
python anthropic anthropic_client.py anthropic
javascript anthropic-js anthropic.mjs
python litellm litellm_client.py litellm
python langchain-openai langchain_client.py langchain-openai
python pydantic-ai pydantic_client.py 'pydantic-ai-slim[openai]'
javascript ai ai.mjs
python llm llm_client.py llm
program promptfoo promptfoo
program codex @openai/codex
program claude @anthropic-ai/claude-code
exit "$failed"
