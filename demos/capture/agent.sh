#!/bin/sh
# Answers a question in one sentence: one call of a model with curl.
question=$(sed 's/.*"query":"\([^"]*\)".*/\1/')
curl -sS "${ANTHROPIC_BASE_URL:-https://api.anthropic.com}/v1/messages" \
  -H "x-api-key: $ANTHROPIC_API_KEY" -H 'anthropic-version: 2023-06-01' -H 'content-type: application/json' \
  -d "{\"model\":\"claude-haiku-4-5\",\"max_tokens\":200,\"messages\":[{\"role\":\"user\",\"content\":\"$question\"}]}" |
  sed 's/.*"text":"\([^"]*\)".*/\1/'
