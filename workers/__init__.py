"""JOBS: the system's steps and the turns of AI seats, carried out as soon as they are due."""
