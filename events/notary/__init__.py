"""What the server signs: keys, the log of the server and its witnesses, notes beside matches."""
