"""The live side of matches: the only writer of their logs, what the service derives from each entry, and the store that holds both."""
