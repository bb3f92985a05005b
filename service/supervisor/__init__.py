"""Start, watch and stop the processes of `./run serve`."""
