"""Benchmarks: the measurements of `./run bench`."""
