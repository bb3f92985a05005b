"""Dossiers: signed files with everything that is known about a match, and their verification offline."""
