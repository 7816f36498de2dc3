# promptfoo with its own provider for OpenAI's chat format, and our address.
set -eu
cd "$2"
cat > promptfooconfig.yaml <<END
prompts: ["{{question}}"]
providers:
  - id: openai:chat:quorum
    config: { apiBaseUrl: $PANEL/v1 }
tests:
  - vars: { question: Tabs or spaces? }
    assert: [{ type: contains, value: Tabs }]
END
export PROMPTFOO_DISABLE_TELEMETRY=1 PROMPTFOO_DISABLE_UPDATE=1 PROMPTFOO_CONFIG_DIR="$2"
promptfoo eval --no-cache --no-progress-bar --output result.json > told 2>&1 || { echo "error: $(tail -3 told)" >&2; exit 1; }
grep -q '"successes": 1' result.json || { echo "error: no success in $(cat told)" >&2; exit 1; }
echo "| $1 | ok | promptfoo $VERSION: eval with openai:chat and apiBaseUrl passes |"
