"""War of Civilizations for artificial players."""
