# Claude Code with our address in place of its vendor's.
set -eu
cd "$2"
export ANTHROPIC_BASE_URL="$PANEL" ANTHROPIC_MODEL=quorum ANTHROPIC_SMALL_FAST_MODEL=alpha
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 CLAUDE_CONFIG_DIR="$2/config"
claude -p 'Tabs or spaces?' --model quorum < /dev/null > answer 2> told || { echo "error: $(tail -3 told) $(tail -3 answer)" >&2; exit 1; }
grep -q Tabs answer || { echo "error: no answer in $(cat answer told)" >&2; exit 1; }
echo "| $1 | ok | @anthropic-ai/claude-code $VERSION: claude -p ends with the panel's text |"
