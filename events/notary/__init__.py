"""What the server signs: its keys, the server's log with its witnesses, and the side logs of matches."""
