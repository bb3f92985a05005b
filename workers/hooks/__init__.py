"""The worker that sends webhooks: many at a time, on one event loop, so that nobody waits for somebody else's receiver."""
