"""Dossiers: all that there is to know about a match in one file, and how to verify it (docs/auditing.md)."""
