import json, os
try:
    from requests import post
except ImportError:
    from urllib.request import Request, urlopen

    class Reply:
        def __init__(self, body): self.body = body
        def json(self): return json.loads(self.body)

    def post(url, json=None, headers=None):
        request = Request(url, __import__("json").dumps(json).encode(), {"content-type": "application/json", **headers})
        return Reply(urlopen(request).read())

from sys import stdout

messages = [
    {"role": "system", "content": "You are a support agent. Look an order up before you refund it."},
    {"role": "user", "content": "Please refund order A-17."},
]
results = {"get_order": '{"order_id":"A-17","total":42,"status":"delivered"}', "refund": "Error: the refund limit is 40"}
while True:
    reply = post(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        json={"model": "gpt-5-mini", "messages": messages},
        headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    ).json()
    message = reply["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        stdout.write(message["content"])
        break
    for call in message["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": results[call["function"]["name"]]})
