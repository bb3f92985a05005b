"""Webhooks: what players want to be told by HTTP, and what is told. workers/hooks sends it."""
