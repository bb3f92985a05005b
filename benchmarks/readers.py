"""Read streams until the process is ended: `python -m benchmarks.readers HOST PORT KEY COUNT MATCH,MATCH,…`. It says when they are open."""

from __future__ import annotations

import select
import socket
import sys

from benchmarks.crowd import more_files
from benchmarks.load import Caller, request


def main(host: str, port: str, key: str, count: str, matches: str) -> None:
    """Open the streams, one match after the other, and drop what they say."""
    more_files()
    address = (host, int(port))
    asking, poll, lines, named = Caller(address, key), select.epoll(), {}, matches.split(",")
    newest = {match: asking.call("GET", f"/v1/matches/{match}")["version"] for match in named}
    for number in range(int(count)):
        match = named[number % len(named)]
        line = socket.create_connection(address)
        line.sendall(request("GET", f"/v1/matches/{match}/stream?after={newest[match]}", None, key))
        assert line.recv(262_144).startswith(b"HTTP/1.1 200"), "a stream was refused"
        lines[line.fileno()] = line
        poll.register(line, select.EPOLLIN)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        for file, _ in poll.poll():
            if not lines[file].recv(262_144):  # its match is over
                lines.pop(file).close()


if __name__ == "__main__":
    main(*sys.argv[1:])
