"""Tools for agents: a server of the Model Context Protocol that plays on a running service for one player.

    ./run mcp --url http://127.0.0.1:8000            over standard streams
    ./run mcp --http 127.0.0.1:8765                  over streamable HTTP

It is a client of the HTTP API and knows no rules of a game. The package `mcp` is an extra of the wheel, so only `serving.py` and what it
imports need it. Each answer has at most 5,000 bytes (answers.py), but for the image of `picture`.

| module | what |
| --- | --- |
| `command.py` | the options of the command |
| `serving.py` | the server: its tools, and how clients reach it |
| `players.py`, `finding.py`, `playing.py`, `studying.py` | the tools |
| `service.py` | requests to the API: repeated when they may be, refusals in a sentence |
| `wording.py` | matches, choices and entries in words |
| `answers.py` | the bound of an answer, and pages |
"""

from tools.mcp.command import main as main
