"""The embedded store and its files: start, seal, losses, backup, erasing."""
