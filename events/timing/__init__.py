"""Service time: the clock, the pulses of processes, outages, and requests in flight."""
