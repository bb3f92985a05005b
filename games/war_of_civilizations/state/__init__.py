"""The document of a match, and the questions that many rules ask of it."""
