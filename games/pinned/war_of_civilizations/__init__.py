"""Earlier revisions of the rules of War of Civilizations"""
