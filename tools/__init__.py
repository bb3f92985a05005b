"""The command line: what `./run` does besides serving."""
