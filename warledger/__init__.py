"""Warledger: board games as ledgers that can be replayed and audited.

A wheel has every folder of the code in this package, such as `warledger.record`. docs/data-scientist.md shows how
to judge a match with it, without a service. In a checkout the folders are packages of their own, and this one has only the command.
"""
