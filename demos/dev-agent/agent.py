"""The twin of agent.ts in Python, with the standard library alone: any language can be tested that reads stdin and prints JSON."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOS = HERE / "repos"
MODEL = "gpt-4o-mini"
MAX_TURNS = 20
MAX_FILE_CHARS = 4000
LANGUAGES = {".py": "Python", ".ts": "TypeScript", ".js": "JavaScript"}


def inside(path: str) -> Path:
    """A path below repos, or an error. Links are followed first: a link may lead anywhere."""
    full = HERE / path
    if not full.exists():
        raise ValueError(f"there is no {path}")
    real = full.resolve()
    if real != REPOS and REPOS not in real.parents:
        raise ValueError(f"{path} is outside of the repositories")
    return real


def repo_metadata(repo: str) -> str:
    files = [path for path in inside(f"repos/{repo}").rglob("*") if path.is_file()]
    counts: dict[str, int] = {}
    for path in files:
        language = LANGUAGES.get(path.suffix)
        if language is not None:
            counts[language] = counts.get(language, 0) + 1
    return json.dumps({"repo": repo, "files": len(files), "languages": counts}, separators=(",", ":"))


def list_dir(path: str) -> str:
    return "\n".join(sorted(entry.name + ("/" if entry.is_dir() else "") for entry in inside(path).iterdir()))


def read_file(path: str) -> str:
    return inside(path).read_text(encoding="utf-8")[:MAX_FILE_CHARS]


TOOLS = {"repo_metadata": (repo_metadata, "repo"), "list_dir": (list_dir, "path"), "read_file": (read_file, "path")}


def call_tool(name: str, args: dict) -> tuple[str, str | None]:
    """What goes wrong is told as text too: a model can do something about it."""
    try:
        if name not in TOOLS:
            raise ValueError(f"unknown tool {name}")
        function, parameter = TOOLS[name]
        return function(str(args.get(parameter))), None
    except (ValueError, OSError) as error:
        return f"error: {error}", str(error)


def tool_definitions() -> list[dict]:
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "parameters": {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]},
            },
        }
        for name, (_, parameter) in TOOLS.items()
    ]


def complete(base_url: str, key: str, messages: list[dict]) -> dict:
    body = json.dumps({"model": MODEL, "messages": messages, "tools": tool_definitions()}).encode()
    headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
    with urllib.request.urlopen(urllib.request.Request(f"{base_url}/chat/completions", body, headers)) as response:
        return json.load(response)


def analyse(query: str, base_url: str, key: str) -> dict:
    started = time.monotonic()
    messages = [
        {"role": "system", "content": (HERE / "prompt.md").read_text(encoding="utf-8")},
        {"role": "user", "content": query},
    ]
    llm_calls, tool_calls, answer = [], [], None
    for _ in range(MAX_TURNS):
        reply = complete(base_url, key, messages)
        usage = reply["usage"]
        llm_calls.append({"model": MODEL, "input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"]})
        said = reply["choices"][0]["message"]
        messages.append(said)
        wanted = said.get("tool_calls") or []
        if not wanted:
            answer = said["content"] or ""
            break
        for call in wanted:
            args = json.loads(call["function"]["arguments"])
            result, error = call_tool(call["function"]["name"], args)
            tool_calls.append({"id": call["id"], "name": call["function"]["name"], "args": args, "result": result, "error": error})
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    latency = round((time.monotonic() - started) * 1000)
    return {"query": query, "answer": answer, "model": MODEL, "llm_calls": llm_calls, "tool_calls": tool_calls, "latency_ms": latency}


def main() -> None:
    query = json.load(sys.stdin)["query"]
    if os.environ.get("DEMO_LIVE") == "1":
        base_url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
        print(json.dumps(analyse(query, base_url, os.environ["OPENAI_API_KEY"])))
        return
    # The scripted model is a small server of the workspace; it ends with us.
    command = ["node", "--import", "jiti/register", str(HERE / "serve-model.ts")]
    with subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True) as server:
        try:
            print(json.dumps(analyse(query, server.stdout.readline().strip(), "scripted")))
        finally:
            server.kill()


main()
