"""Refunds an order through the client that is named: urllib, requests, httpx or httpx-async."""

import json
import os
import sys

client = sys.argv[1]
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"}


def ask(body):
    if client == "requests":
        import requests

        return requests.post(url, json=body, headers=headers).json()
    if client == "httpx":
        import httpx

        return httpx.post(url, json=body, headers=headers).json()
    if client == "httpx-async":
        import asyncio

        import httpx

        async def post():
            async with httpx.AsyncClient() as session:
                return (await session.post(url, json=body, headers=headers)).json()

        return asyncio.run(post())
    from urllib.request import Request, urlopen

    return json.load(urlopen(Request(url, json.dumps(body).encode(), headers)))


messages = [
    {"role": "system", "content": "You are a support agent. Look an order up before you refund it."},
    {"role": "user", "content": "Please refund order A-17."},
]
results = {"get_order": '{"order_id":"A-17","total":42,"status":"delivered"}', "refund": "Error: the refund limit is 40"}
while True:
    message = ask({"model": "gpt-5-mini", "messages": messages})["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        sys.stdout.write(message["content"])
        break
    for call in message["tool_calls"]:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": results[call["function"]["name"]]})
