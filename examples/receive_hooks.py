"""Receive webhooks of Warledger, and print whose turn it is. Needs `pip install standardwebhooks`.

SECRET=whsec_… python examples/receive_hooks.py 9000
"""

import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

hook = Webhook(os.environ["SECRET"])
seen = set[str]()  # keep these ids where they outlive the program: a message may come twice


class Receiver(BaseHTTPRequestHandler):
    """Takes messages, and refuses what the hook has not signed."""

    def do_POST(self) -> None:
        """Take a message."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = hook.verify(body, dict(self.headers))["data"]
        except WebhookVerificationError:
            status = 401
        else:
            status = 204
            if self.headers["webhook-id"] not in seen:
                seen.add(self.headers["webhook-id"])
                if event["type"] == "turn":
                    print(f"{event['seat']} is to act in {event['match']}", flush=True)
        self.send_response(status)
        self.end_headers()


HTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
