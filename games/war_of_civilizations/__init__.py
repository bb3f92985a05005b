"""War of Civilizations."""
