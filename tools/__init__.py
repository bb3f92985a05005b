"""The commands of `./run`, except `serve` and `bench`."""
