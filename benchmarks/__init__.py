"""How fast it is: what `./run bench` measures."""
