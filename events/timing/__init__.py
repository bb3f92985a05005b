"""Service time: the clock, pulses of processes, outages, and what is in flight."""
