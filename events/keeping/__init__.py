"""The embedded store and its files: start, journal, losses, backup, erasing."""
