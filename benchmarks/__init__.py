"""The measurements of `./run bench`."""
