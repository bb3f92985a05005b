"""The service: HTTP in, HTTP out. It parses, asks and answers; it decides nothing."""
