"""Workers: they carry out the steps of the system and the turns of AI seats when they are due."""
