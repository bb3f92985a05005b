"""A match when nobody runs it: entries, positions, dice, what is shown, replay and check, decisions run again, dossiers."""
