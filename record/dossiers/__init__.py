"""Dossiers: everything that is known about a match, in one signed file, and how such files are verified offline."""
