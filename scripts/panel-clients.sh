#!/bin/sh
# Runs the vendors' own clients, and programs built on them, against `ax serve` with a fake vendor:
# chat, streaming, structured output and errors. Prints a table of what each showed. Needs Python
# with venv and npm; everything is installed under target/. CLIENTS="openai-2 ai" runs only these.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
tools=$PWD/$target/panel-clients
here=$PWD/scripts/panel-clients
mkdir -p "$tools"
ax=${AX:-$target/debug/ax}
[ -x "$ax" ] || cargo build --package quorum-ax

# One environment for each line: its name, and what it needs.
python_env() {
    if [ ! -f "$tools/$1/ready" ]; then
        python3 -m venv "$tools/$1"
        shift_name=$1
        shift
        "$tools/$shift_name/bin/pip" install --quiet "$@"
        touch "$tools/$shift_name/ready"
    fi
}
node_env() {
    if [ ! -f "$tools/js/ready" ]; then
        mkdir -p "$tools/js"
        (cd "$tools/js" && echo '{"type":"module","private":true}' > package.json &&
            npm install --silent --no-audit --no-fund node@22 openai@6.49 @openrouter/sdk@1.3.19 @anthropic-ai/sdk \
                ai@6 @ai-sdk/openai-compatible@2 zod)
        touch "$tools/js/ready"
    fi
}

data=$(mktemp -d)
python3 "$here/vendor.py" > "$data/port" &
vendor=$!
trap 'kill "$vendor" "${server:-}" 2> /dev/null || true; rm -rf "$data"' EXIT INT TERM
until [ -s "$data/port" ]; do sleep 0.1; done
for name in alpha beta gamma; do
    printf '[providers.%s]\nwire = "openai-chat"\nbase_url = "http://127.0.0.1:%s/v1"\nmodel = "%s-1"\nprice = { input = 1, output = 2 }\n' \
        "$name" "$(cat "$data/port")" "$name" >> "$data/config.toml"
done
AX_DATA_DIR=$data AX_CONFIG=$data/config.toml "$ax" serve --port 0 2> "$data/said" &
server=$!
until grep -qs 'Listening on' "$data/said"; do
    kill -0 "$server"
    sleep 0.1
done
PANEL=$(sed -n 's/.*Listening on \(http:[^ ]*\).*/\1/p' "$data/said" | sed 's,/*$,,')
export PANEL OPENAI_API_KEY=none ANTHROPIC_API_KEY=none OPENROUTER_API_KEY=none LLM_USER_PATH="$data/llm"

run() {
    name=$1
    shift
    case " ${CLIENTS:-$name} " in *" $name "*) ;; *) return ;; esac
    if told=$("$@" 2> "$data/error"); then
        printf '%s\n' "$told"
    else
        printf '| %s | FAILED | %s |\n' "$name" "$(grep -E "Error|error" "$data/error" | head -1 | cut -c1-700)"
        failed=1
    fi
}
python() {
    name=$1 script=$2
    shift 2
    run_python() {
        python_env "$@" > /dev/null && "$tools/$1/bin/python" "$here/$script" "$1"
    }
    run "$name" run_python "$name" "$@"
}
javascript() {
    run_javascript() {
        node_env > /dev/null && cp "$here"/*.mjs "$tools/js/" && "$tools/js/node_modules/.bin/node" "$tools/js/$2" "$1"
    }
    run "$1" run_javascript "$1" "$2"
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
exit "$failed"
