"""The command `warledger mcp`: its options, and what it says where the extra is not installed."""

from __future__ import annotations

import argparse
import ipaddress
import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

from events.modules import full_name

EXTRA = "pip install 'warledger[mcp]'"
TOKEN = "WARLEDGER_MCP_TOKEN"
ABOUT = "Tools for agents: a server of the Model Context Protocol (MCP) that plays on a running service, for one player."
MORE = f"""Without --http, the server talks over its standard input and output, so the program of the agent starts it.

It needs an extra package: {EXTRA}

The key: $WARLEDGER_KEY, or the file of --key-file. Without one, the tool `register` creates a player.
Its key lasts as long as this process, or goes into the file. No tool shows it.

With --http, whoever reaches the address plays as this player. So beyond this machine, clients need a token:
set ${TOKEN} here, and let clients send `Authorization: Bearer <token>`."""


class Address(NamedTuple):
    """Where to listen."""

    host: str
    port: int

    @property
    def is_local(self) -> bool:
        """Whether only programs on this machine reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def main(arguments: list[str] | None = None) -> int:
    """Serve until the client closes the standard input, or until a signal. Return 1 without the extra, 2 for options that cannot be."""
    options = parsed(arguments)
    token = os.environ.get(TOKEN)
    if options.http is not None and not options.http.is_local and not token:
        print(f"Whoever reaches {options.http.host} would play as your player. Set {TOKEN} to a secret that clients send.", file=sys.stderr)
        return 2
    try:
        url, key = options.url or url_of(options.data), key_from(options.key_file)
    except (FileNotFoundError, ValueError) as reason:
        print(reason, file=sys.stderr)
        return 2
    try:
        from tools.mcp.service import Service
        from tools.mcp.serving import over_http, over_standard_streams
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith(full_name("tools")):
            raise
        print(f"The command mcp needs the package {missing.name}: {EXTRA}", file=sys.stderr)
        return 1
    service = Service(url, key, options.key_file)
    if options.http is None:
        over_standard_streams(service)
    else:
        over_http(service, options.http.host, options.http.port, token, options.allow)
    return 0


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(prog="./run mcp", description=ABOUT, epilog=MORE, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--url", default=os.environ.get("WARLEDGER_URL"), help="the address of the service (default: $WARLEDGER_URL, or from --data)"
    )
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(os.environ.get("WARLEDGER_DATA", "data")),
        help="the data folder of a service on this machine (default: $WARLEDGER_DATA, or ./data)",
    )
    parser.add_argument("--key-file", type=Path, metavar="FILE", help="the file with the API key; if there is none, `register` writes it")
    parser.add_argument("--http", type=address, metavar="[HOST:]PORT", help="serve streamable HTTP at /mcp (HOST: 127.0.0.1)")
    parser.add_argument(
        "--allow", action="append", default=[], metavar="HOST", help="a further value of the Host header that clients may send, with --http"
    )
    return parser.parse_args(arguments)


def address(text: str) -> Address:
    """Return an address to listen at. Raises ArgumentTypeError."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError("it must be a port, or a host and a port")
    return Address(host.strip("[]") or "127.0.0.1", int(port))


def url_of(data: Path) -> str:
    """Return the address of the service that runs on a data folder. Raises FileNotFoundError."""
    known = data / "serve.json"
    if not known.exists():
        raise FileNotFoundError(f"No service runs over {data}. Name its address with --url, or its folder with --data.")
    return str(json.loads(known.read_text(encoding="utf-8"))["url"])


def key_from(file: Path | None) -> str | None:
    """Return the API key, or None. The environment comes first, then the file. Raises ValueError if the file has none."""
    if key := os.environ.get("WARLEDGER_KEY"):
        return key
    if file is None or not file.exists():
        return None
    if not (key := file.read_text(encoding="utf-8").strip()):
        raise ValueError(f"There is no key in {file}.")
    return key
