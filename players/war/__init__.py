"""What artificial players know about War! beyond its rules."""
