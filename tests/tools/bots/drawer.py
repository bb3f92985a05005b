"""A program for arenas. `drawer.py MODE`: it draws among its choices, and after three of them fails in its way."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

MODE = sys.argv[1] if len(sys.argv) > 1 else "well"
hello = json.loads(sys.stdin.readline())
if MODE == "mute":
    time.sleep(600)
sys.stdout.write(json.dumps({"name": "drawer", "version": "1"}) + "\n")
sys.stdout.flush()
if MODE == "deaf":
    Path(sys.argv[2]).write_text(str(os.getpid()))
    time.sleep(600)
dice = random.Random(hello["seed"])
for asked, line in enumerate(sys.stdin, 1):
    question = json.loads(line)
    if "choices" not in question:
        break
    answer = json.dumps({"choice": dice.randrange(len(question["choices"]))})
    if asked > 3 and MODE != "well":
        if MODE == "crash":
            sys.stderr.write("a reason\n")
            sys.exit(3)
        if MODE == "late":
            time.sleep(600)
        answer = {
            "long": "x" * 100_000,
            "garbage": "hello",
            "illegal": '{"action": {"type": "nonsense"}}',
            "fraction": '{"action": {"type": "move", "by": 0.5}}',
            "beyond": '{"choice": 100000}',
            "deep": '{"action":' + "[" * 50_000,
            "table": '{"action": {"type": "offer", "what": "draw"}}',
            "resign": '{"action": {"type": "resign"}}',
        }[MODE]
    sys.stdout.write(answer + "\n")
    sys.stdout.flush()
