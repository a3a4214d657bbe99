"""OpenAI and servers that speak its protocols: chat completions and the Responses API."""
