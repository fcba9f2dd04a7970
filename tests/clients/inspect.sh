#!/usr/bin/env bash
# Drives hydrant's MCP server with the inspector's command-line mode, over standard input and output and streamable HTTP.
#
#   inspect.sh HYDRANT INSPECTOR PYTHON     called by scripts/clients.sh
set -euo pipefail
hydrant=$1 inspector=$2 python=$3
root=$(realpath "$(dirname "$0")/../..")
place=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$place"' EXIT
export HYDRANT_HOME=$place/home XDG_CACHE_HOME=$place/cache
# The inspector keeps a catalogue of servers in the home folder.
export HOME=$place/inspector
mkdir -m 700 "$HYDRANT_HOME" "$HOME"

# asked WHAT EXPRESSION ARGUMENTS… - runs the inspector; EXPRESSION, about its answer `a`, has to hold.
asked() {
  local what=$1 expression=$2 answer
  shift 2
  # An error of a tool is an answer too, and ends it with another status.
  answer=$("$inspector" --cli "$@" --connect-timeout 60000 2>"$place/stderr") || [ "$what" = refusal ] ||
    { cat "$place/stderr" >&2; echo "inspector: $what failed" >&2; exit 1; }
  "$python" -c 'import json, sys
a = json.loads(sys.argv[1])
sys.exit(0 if eval(sys.argv[2]) else f"inspector: {sys.argv[3]}: {sys.argv[1][:2000]}")' "$answer" "$expression" "$what"
}

# all TARGET… - everything, of one server.
all() {
  asked tools 'len(a["tools"]) >= 15 and all("." not in t["name"] and t["description"] != t["title"] for t in a["tools"])' "$@" \
    --method tools/list --strict
  asked refusal 'a["isError"] and a["content"][0]["text"].startswith("not_found: ")' "$@" \
    --method tools/call --tool-name fs_read_text --tool-arg path=/os/no-such-file.md
  asked call '"prose" in a["content"][0]["text"].lower() and not a.get("isError")' "$@" \
    --method tools/call --tool-name fs_read_text --tool-arg path=/os/skills/plain-prose.md
  asked resources 'any(r["uri"] == "os://agents/release-captain.md" for r in a["resources"])' "$@" --method resources/list
  asked templates 'len(a["resourceTemplates"]) == 2' "$@" --method resources/templates/list
  asked read '"Announcement" in a["contents"][0]["text"]' "$@" --method resources/read --uri os://agents/release-captain.md
  asked prompts 'any(p["name"] == "debugging" for p in a["prompts"])' "$@" --method prompts/list
  asked prompt '"crashes on tabs" in a["messages"][0]["content"]["text"]' "$@" \
    --method prompts/get --prompt-name debugging --prompt-args "task=the parser crashes on tabs"
}

token=$("$python" -c 'import secrets; print(secrets.token_urlsafe(32))')
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
digest=$(printf %s "$token" | sha256sum | cut -d' ' -f1)
(
  umask 077
  printf '[[tenant]]\nname = "one"\ntoken_digests = ["sha256:%s"]\nos_root = "%s"\n' "$digest" "$root/examples/os" > "$HYDRANT_HOME/tenants.toml"
  printf '[serve]\nlisten = "127.0.0.1:%s"\n' "$port" > "$HYDRANT_HOME/hydrant.toml"
)
cd "$place"
# A client waits some seconds for a server, and on a busy machine compiling takes longer.
"$hydrant" serve --compile
cat > policy.yaml <<'END'
version: 1
trusted_signers: [hydrant.build, hydrant.release]
capability_ceiling:
  fs: {read: [/os]}
host:
  mounts:
    - {at: /os, dir: "@cli", mode: ro}
END
stdio=(-e "HYDRANT_HOME=$HYDRANT_HOME" -e "XDG_CACHE_HOME=$XDG_CACHE_HOME" "$hydrant" mcp --root "$root/examples/os" --no-exec)
all "${stdio[@]}"
echo "inspector: stdio, the default policy"
all "${stdio[@]}" --policy policy.yaml
echo "inspector: stdio, a policy file"

# served NAME OPTIONS… - the service with these options, and everything of it.
served() {
  local name=$1
  shift
  "$hydrant" serve "$@" &
  server=$!
  for _ in $(seq 600); do
    "$python" -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/readyz')" 2>/dev/null && break
    sleep 0.1
  done
  all "http://127.0.0.1:$port/mcp" --transport http --header "Authorization: Bearer $token"
  kill "$server"
  wait "$server" || true
  server=
  echo "inspector: http, $name"
}
served "the default policy"
served "a policy file" --policy policy.yaml
