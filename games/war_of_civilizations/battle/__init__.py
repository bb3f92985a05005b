"""Battles: the decisions of the sides (`deeds`), their consequences (`resolve`), and the battle record with its questions, secrets and
facts (`record`)."""
