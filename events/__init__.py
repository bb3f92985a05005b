"""MEMORY: the streams of matches, the one writer, and what follows from an entry."""
