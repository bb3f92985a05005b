"""HTTP in general: middleware, limits, connections, parsing, problems, and who is calling."""
