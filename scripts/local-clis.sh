#!/bin/sh
# Has the real coding CLIs (Claude Code, Codex, Gemini CLI) take part in discussions against a fake
# vendor on this machine, and has a model try to read the user's files through them. Needs npm; the
# first run installs the programs and a recent Node under target/. Exits with 0 and a message where
# they can't be installed.
set -eu
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-$PWD/target}
place=$target/clis
bin=$place/node_modules/.bin
mkdir -p "$place"
if ! command -v npm > /dev/null; then
    echo "skipped: the coding CLIs can't be installed without npm"
    exit 0
fi
if [ ! -x "$bin/claude" ] || [ ! -x "$bin/codex" ] || [ ! -x "$bin/gemini" ] || [ ! -x "$bin/node" ]; then
    printf '{ "private": true }\n' > "$place/package.json"
    if ! npm install --prefix "$place" --no-save --no-audit --no-fund --loglevel error \
        node@22 @anthropic-ai/claude-code @openai/codex @google/gemini-cli; then
        echo "skipped: the coding CLIs could not be installed from npm"
        exit 0
    fi
fi
test=$(cargo test --package quorum-panel --test clis --no-run --message-format=json |
    sed -n 's/.*"executable":"\([^"]*\/clis-[^"]*\)".*/\1/p')
# None of the user's variables reaches the programs, least of all a key, and their logins are in a
# HOME of their own. The programs run one after the other, because they are slow to start and
# compete for the processor.
home=$place/home
rm -rf "$home" "$place/bin"
mkdir -p "$home"
env -i PATH="$place/bin:$bin:$PATH" HOME="$home" QUORUM_CLIS="$place" "$test" --nocapture --test-threads 1
