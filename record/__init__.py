"""Records: what a match is when nobody runs it. Entries, positions, dice, redaction, audits, decisions run again, dossiers."""
