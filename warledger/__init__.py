"""Warledger: board games as ledgers that can be replayed and audited.

A wheel has every folder of the code in this package, such as `warledger.record`. docs/data-scientist.md shows how
to judge a match with it, without a service. In a checkout the folders are packages of their own, and this one has only the command.
"""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)  # compiled modules, if their folder is the first on the path, are beside all others
