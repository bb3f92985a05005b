"""The table: rules that hold for every match and belong to no game. Seats are taken and left here; a match is created here."""
