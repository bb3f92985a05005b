"""Everything that the Dockerfile and the files for Compose name exists, and the parts play a match. This needs no container engine."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import redis
import requests
import yaml

from events import play
from events.errors import StoreRefused, StoreUnavailable
from events.keeping import embedded
from events.platform import Platform, Settings, open_platform
from events.store import library
from events.store.client import answers
from events.store.filed import pack
from record.entries import parse
from tests.conftest import ALL_GAMES, within
from tools import functions
from warledger.__main__ import module_of, usage

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
SERVICES = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
CLUSTER = yaml.safe_load((ROOT / "compose.cluster.yaml").read_text())["services"]
(CHECK,) = re.findall(r"^HEALTHCHECK .*\n +CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
OURS = {name: service for name, service in SERVICES.items() if service["image"] == "warledger"}
DIGEST = re.compile(r"[a-z/]+:[\w.-]+@sha256:[0-9a-f]{64}")
COMMANDS = set(re.findall(r"^  \./run ([a-z]+)", usage().partition("\nTo work on")[0], re.MULTILINE))
CODE = "\n".join(file.read_text() for place in ("events", "service", "workers", "tools") for file in (ROOT / place).rglob("*.py"))


def commands() -> list[list[str]]:
    """Return our commands: that of the image, and those of the services that run it."""
    image = [json.loads(listed) for listed in re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)]
    return image + [service["command"] for service in (*OURS.values(), *CLUSTER.values()) if service["image"] == "warledger"]


def settings() -> set[str]:
    """Return every setting of ours that the files name."""
    named = set(re.findall(r"WARLEDGER_\w+", DOCKERFILE))
    given = named.union(*(service.get("environment", {}) for service in (*SERVICES.values(), *CLUSTER.values())))
    return {name for name in given if not name.startswith("AWS_")}


def test_the_image_installs_the_wheel_and_copies_nothing_that_is_missing() -> None:
    copied = {source for line in re.findall(r"^COPY ([^-\n].*) \S+$", DOCKERFILE, re.MULTILINE) for source in line.split()}
    assert [source for source in copied if not (ROOT / source).exists()] == []
    assert "pip install --no-cache-dir --no-deps --no-index /wheel/*.whl" in DOCKERFILE.rpartition("FROM ")[2]


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_every_command_is_one_of_the_wheel(command: list[str]) -> None:
    assert command[0] == "warledger"
    assert command[1] in COMMANDS


@pytest.mark.parametrize("option", sorted({(command[1], word) for command in commands() for word in command if word.startswith("--")}))
def test_every_option_is_one_of_its_command(option: tuple[str, str]) -> None:
    assert f'"{option[1]}"' in known_options(module_of(option[0]))


def known_options(module: str) -> str:
    """Return the code that adds the options of a module."""
    text = (ROOT / f"{module.replace('.', '/')}.py").read_text()
    return text + (ROOT / "workers/listening.py").read_text() if "add_option(parser)" in text else text


@pytest.mark.parametrize("setting", sorted(settings()))
def test_every_setting_is_read_by_the_code(setting: str) -> None:
    assert setting in CODE


def test_nothing_runs_as_root_and_the_image_has_a_health_check() -> None:
    assert re.search(r"^USER (?!root)\w+", DOCKERFILE, re.MULTILINE)
    assert "HEALTHCHECK" in DOCKERFILE


def test_images_are_pinned_by_digest_and_ours_is_built_once() -> None:
    (base,) = {image.removesuffix(" AS wheel") for image in re.findall("^FROM (.*)$", DOCKERFILE, re.MULTILINE)}
    for image in (base, *(service["image"] for name, service in SERVICES.items() if name not in OURS)):
        assert DIGEST.fullmatch(image)
    (builder,) = [name for name, service in SERVICES.items() if "build" in service]
    assert all(service["pull_policy"] == ("build" if name == builder else "never") for name, service in OURS.items())
    assert all(builder in ancestors(name) for name in OURS if name != builder), "the image is there before anything runs it"


def ancestors(name: str) -> set[str]:
    """Return the services that have begun before one."""
    before = set(SERVICES[name].get("depends_on", {}))
    return before.union(*map(ancestors, before))


def test_every_part_that_lasts_has_a_health_check_of_what_it_listens_on() -> None:
    lasting = {name for name, service in SERVICES.items() if service["restart"] == "unless-stopped"}
    assert lasting == {"redis", "queue", "journal", "web", "worker", "searcher", "hooks", "archivist", "backup"}
    for name in lasting - {"web"}:  # which has that of the image
        assert "disable" not in SERVICES[name]["healthcheck"]
    for service in (SERVICES[name] for name in ("journal", "worker", "searcher", "hooks", "archivist", "backup")):
        assert option(service, "--listen").endswith(":9100")
        assert "127.0.0.1:9100/healthz" in service["healthcheck"]["test"][-1]


def test_the_journal_and_those_who_report_losses_have_the_same_folder() -> None:
    assert "journal:/data/journal" in SERVICES["journal"]["volumes"]
    assert "journal:/data/journal:ro" in SERVICES["web"]["volumes"]
    assert re.search(r"install -d -o warledger .*/data/journal", DOCKERFILE)


@pytest.mark.parametrize("name", ["CORS_ORIGINS", "HOOK_ORIGINS", "NAME", "NAME_SERVERS", "TRUSTED_PROXIES", "URL", "WITNESSES"])
def test_settings_are_passed_on_and_may_be_missing(name: str) -> None:
    setting = f"WARLEDGER_{name}"
    assert SERVICES["web"]["environment"][setting] == SERVICES["hooks"]["environment"][setting] == f"${{{setting}:-}}"


def test_the_service_knows_the_memory_of_the_store() -> None:
    assert option(SERVICES["redis"], "--maxmemory") == f"{SERVICES['web']['environment']['WARLEDGER_MEMORY']}mb"


def test_the_ledger_is_durable_and_the_queue_is_not() -> None:
    assert option(SERVICES["redis"], "--appendfsync") == "always"
    assert SERVICES["redis"]["command"][1] == "/keys/commands.conf"
    assert option(SERVICES["redis"], "--appendonly") == "yes"
    assert option(SERVICES["redis"], "--aof-load-truncated") == "no"
    assert "ledger:/data" in SERVICES["redis"]["volumes"]
    assert "volumes" not in SERVICES["queue"]


def test_only_the_archivist_has_its_password_and_writes_to_the_archive() -> None:
    password = "${WARLEDGER_ARCHIVIST_PASSWORD"
    assert {name for name, service in SERVICES.items() if password in str(service)} == {"settle", "archivist"}
    mounts = {name: mount for name, service in SERVICES.items() for mount in service.get("volumes", []) if mount.startswith("archive:")}
    assert mounts == {
        **dict.fromkeys(("web", "worker", "searcher", "hooks"), "archive:/data/archive:ro"),
        "archivist": "archive:/data/archive",
    }
    assert re.search(r"install -d -o warledger .*/data/archive", DOCKERFILE)


def test_a_machine_of_the_cluster_has_the_parts_of_the_composition() -> None:
    for name in ("web", "worker", "searcher", "hooks", "journal", "archivist"):
        assert CLUSTER[name]["command"] == SERVICES[name]["command"]
        assert CLUSTER[name].get("healthcheck") == SERVICES[name].get("healthcheck")
        assert set(SERVICES[name]["environment"]) <= set(CLUSTER[name]["environment"])
    assert {name for name, service in CLUSTER.items() if service.get("profiles") == ["first"]} == {
        "functions",
        "queue",
        "journal",
        "archivist",
    }
    assert all(service["image"] in ("warledger", SERVICES["redis"]["image"]) for service in CLUSTER.values())


def test_the_nodes_of_the_cluster_are_durable_and_sent_to_places_of_their_own() -> None:
    node, replica = CLUSTER["node"], CLUSTER["replica"]
    written = [word.partition(":?")[0].rstrip("}") for word in node["command"]]
    assert [word.replace("7000", "7001") for word in written] == [word.rstrip("}") for word in replica["command"]]
    for option_name in (
        "--appendfsync",
        "--appendonly",
        "--aof-load-truncated",
        "--lazyfree-lazy-expire",
        "--maxmemory",
        "--maxmemory-policy",
    ):
        assert option(node, option_name) == option(SERVICES["redis"], option_name)
    assert option(node, "--maxmemory") == f"{CLUSTER['web']['environment']['WARLEDGER_MEMORY']}mb"
    assert CLUSTER["web"]["environment"]["WARLEDGER_REPLICAS"] == "1"
    places = set()
    assert option(SERVICES["backup"], "--server") == "/ledger"
    assert SERVICES["backup"]["volumes"] == [SERVICES["redis"]["volumes"][0].replace(":/data", ":/ledger:ro")]
    for name in ("node", "replica"):
        sent = CLUSTER[f"backup-{name}"]
        places.add(sent["command"][2])
        assert option(sent, "--server") == f"/{name}"
        assert sent["volumes"] == [f"{name}:/{name}:ro"]
        assert CLUSTER[name]["volumes"] == [f"{name}:/data"]
    assert len(places) == 2


def test_the_image_can_use_object_storage() -> None:
    pinned = (ROOT / "requirements-archive.txt").read_text().partition("obstore==")[2]
    assert f"obstore=={pinned}" in (ROOT / "requirements-dev.txt").read_text()
    assert "-r /wheel/requirements-archive.txt" in DOCKERFILE


def test_every_part_depends_only_on_services_of_the_same_file() -> None:
    for service in SERVICES.values():
        assert set(service.get("depends_on", {})) <= set(SERVICES)


PASSWORD, ARCHIVISTS = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture
def composed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, str]]:
    """The folder /keys of the composition, and the address of a server that runs with the command of its store."""
    keys, path = tmp_path / "keys", tmp_path / "redis.sock"
    monkeypatch.setenv("WARLEDGER_STORE_PASSWORD", PASSWORD)
    monkeypatch.setenv("WARLEDGER_ARCHIVIST_PASSWORD", ARCHIVISTS)
    assert functions.main([word.replace("/keys", str(keys)) for word in SERVICES["settle"]["command"][2:]]) == 0
    _, *options = [word.replace("/keys", str(keys)) for word in SERVICES["redis"]["command"]]
    server = subprocess.Popen(
        [embedded.binary(), *options, "--port", "0", "--unixsocket", str(path), "--dir", str(tmp_path)], stdout=subprocess.DEVNULL
    )
    within(10, lambda: answers(f"unix://default:{PASSWORD}@{path}"))
    yield keys, str(path)
    server.terminate()
    server.wait()


def load(address: str, keys: Path) -> int:
    """Run the command of the composition that loads the functions."""
    words = {"redis://redis:6379": f"unix://{address}", "/keys": str(keys)}
    return functions.main([words.get(word, word) for word in SERVICES["functions"]["command"][2:]])


def test_the_store_of_the_composition_lets_the_service_call_functions_and_nobody_else_enter(
    composed: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    keys, address = composed
    template = SERVICES["web"]["environment"]["WARLEDGER_REDIS_URL"]
    url = re.sub(r"\$\{\w+\}@.*", f"{PASSWORD}@{address}", template).replace("redis:", "unix:")
    with pytest.raises(StoreUnavailable) as missing:
        open_platform(Settings(store_url=url, queue_url="unix:///nowhere"), ALL_GAMES)
    assert library.NAME in missing.value.reason
    assert load(address, keys) == load(address, keys) == 0
    assert re.findall("has the functions|had them already", capsys.readouterr().out) == ["has the functions", "had them already"]
    platform = open_platform(Settings(store_url=url, queue_url="unix:///nowhere"), ALL_GAMES)
    match = play.create(platform, "p" + "a" * 16, "tally", {"one": "me", "two": "me"}, {}).match
    for words in (
        ("XADD", platform.store.keys.of(match).stream, "9-0", "e", "x"),
        ("DEL", "x"),
        ("FUNCTION", "FLUSH"),
        ("CONFIG", "GET", "*"),
    ):
        with pytest.raises(StoreRefused):
            platform.store.client.ask(*words)
    over = platform.store.keys.stream(match)
    platform.store.server_logs.settle(match, 1, None)
    with pytest.raises(StoreRefused) as forbidden:
        platform.store.client.run(library.script("archive"), [over], archived(platform, match))
    assert "permission" in forbidden.value.reason
    other = url.replace(f"default:{PASSWORD}", f"archivist:{ARCHIVISTS}")
    archivist = open_platform(Settings(store_url=other, queue_url="unix:///nowhere"), ALL_GAMES)
    assert archivist.store.client.run(library.script("archive"), [over], archived(platform, match)) == 1
    assert platform.store.archiving.where([match])[0].away is not None
    archivist.close()
    platform.close()
    for user in ("", "default:wrong@", "keeper:wrong@", "archivist:wrong@"):
        assert not answers(f"unix://{user}{address}")


def archived(platform: Platform, match: str) -> list[str | bytes | int]:
    """Return the arguments with which a match is archived, as if it were over."""
    entry = parse(platform.store.live.read(match)[-1])
    names = ("all", "status:over", "game:tally", "game:tally:over", f"creator:{entry.actor}")
    row = pack(match, "tally", entry.version, entry.digest, entry.at, b'{"secret":null}', dict.fromkeys(names, entry.at))
    return ["{}", row.game, row.row, ""]


ORIGIN = "https://play.example"


@pytest.fixture
def parts(composed: tuple[Path, str], tmp_path: Path) -> Iterator[dict[str, Part]]:
    """Every part of the composition in a process of its own, with its own command, settings and folders."""
    keys, address = composed
    assert load(address, keys) == 0
    queue = tmp_path / "queue.sock"
    given = {"WARLEDGER_STORE_PASSWORD": PASSWORD, "WARLEDGER_QUEUE_PASSWORD": PASSWORD, "WARLEDGER_ADMIN_KEY": "a" * 32}
    given["WARLEDGER_ARCHIVIST_PASSWORD"] = ARCHIVISTS
    given |= {"WARLEDGER_CORS_ORIGINS": ORIGIN, "WARLEDGER_TRUSTED_PROXIES": "127.0.0.1"}
    places = {
        "redis://default": "unix://default",
        "redis://archivist": "unix://archivist",
        "@redis:6379/0": f"@{address}",
        "@queue:6379/0": f"@{queue}",
        "/signing": f"{tmp_path}/signing",
    }
    with ExitStack() as stack:
        words = [filled(word, given) for word in SERVICES["queue"]["command"][1:]]
        server = [embedded.binary(), *words, "--port", "0", "--unixsocket", str(queue), "--dir", str(tmp_path)]
        stack.enter_context(running(server, {}))
        within(10, lambda: answers(f"unix://default:{PASSWORD}@{queue}"))
        (tmp_path / "journal").mkdir()
        (tmp_path / "archive").mkdir()
        found = {}
        for name in ("journal", "web", "worker", "searcher", "hooks", "archivist"):
            data, port = tmp_path / name / "data", free_port()
            data.mkdir(parents=True)
            (data / "journal").symlink_to(tmp_path / "journal")
            (data / "archive").symlink_to(tmp_path / "archive")
            settings = {setting: filled(value, given, places) for setting, value in SERVICES[name]["environment"].items()}
            command = [word.replace("0.0.0.0:9100", f"127.0.0.1:{port}") for word in SERVICES[name]["command"][1:]]
            if name == "web":
                command += ["--port", str(port), "--web", "1"]
            process = stack.enter_context(running([sys.executable, "-m", "warledger", *command], {**settings, "WARLEDGER_DATA": str(data)}))
            found[name] = Part(name, process, port)
        yield found


HOSTS = ["127.0.0.11", "127.0.0.12", "127.0.0.13"]  # of three machines. This one has all of these addresses


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[dict[tuple[int, str], Part]]:
    """Three machines of the cluster: their nodes, and parts in processes of their own, all with their own commands and settings."""
    nodes = [f"{host}:7000" for host in HOSTS]
    given = {"WARLEDGER_STORE_PASSWORD": PASSWORD, "WARLEDGER_QUEUE_PASSWORD": PASSWORD, "WARLEDGER_ADMIN_KEY": "a" * 32}
    given |= {"WARLEDGER_NODES": ",".join(nodes), "WARLEDGER_QUEUE": f"{HOSTS[0]}:6380", "WARLEDGER_NAME": "play.example"}
    given |= {"WARLEDGER_ARCHIVE": str(tmp_path / "archive")}
    places = {"/signing": f"{tmp_path}/signing", "0.0.0.0": HOSTS[0]}
    (tmp_path / "journal").mkdir()
    with ExitStack() as stack:
        for number, host in enumerate(HOSTS):
            for name in ("node", "replica", "queue") if number == 0 else ("node", "replica"):
                folder = tmp_path / f"{name}{number}"
                folder.mkdir()
                words = [filled(word, {**given, "WARLEDGER_HOST": host}) for word in CLUSTER[name]["command"][1:]]
                stack.enter_context(running([embedded.binary(), *words, "--bind", host, "--dir", str(folder)], {}))
        create_cluster([*nodes, *(f"{host}:7001" for host in HOSTS)])
        environment = {**os.environ, **CLUSTER["functions"]["environment"]}
        load_functions = [filled(word, given) for word in CLUSTER["functions"]["command"][1:]]
        within(60, lambda: subprocess.run([sys.executable, "-m", "warledger", *load_functions], cwd=ROOT, env=environment).returncode == 0)
        found = {}
        for number, name in (
            (0, "journal"),
            (0, "web"),
            (1, "web"),
            (1, "worker"),
            (2, "worker"),
            (0, "searcher"),
            (0, "hooks"),
            (0, "archivist"),
        ):
            data, port = tmp_path / f"{name}{number}" / "data", free_port()
            data.mkdir(parents=True)
            (data / "journal").symlink_to(tmp_path / "journal")
            settings = {
                setting: filled(value, {**given, "WARLEDGER_HOST": HOSTS[number]}, places)
                for setting, value in CLUSTER[name]["environment"].items()
            }
            command = [word.replace("0.0.0.0:9100", f"127.0.0.1:{port}") for word in CLUSTER[name]["command"][1:]]
            if name == "web":
                command += ["--port", str(port), "--web", "1"]
            process = stack.enter_context(running([sys.executable, "-m", "warledger", *command], {**settings, "WARLEDGER_DATA": str(data)}))
            found[number, name] = Part(name, process, port)
        yield found


def create_cluster(nodes: Sequence[str]) -> None:
    """Do what `valkey-cli --cluster create … --cluster-replicas 1` does: the first three are primaries, each with a replica elsewhere."""
    clients = [redis.Redis(host, int(port), password=PASSWORD) for host, port in (node.split(":") for node in nodes)]
    for client in clients:
        within(20, lambda client=client: answers_ping(client))
    for client, (first, last) in zip(clients, ((0, 5460), (5461, 10922), (10923, 16383)), strict=False):
        client.execute_command("CLUSTER ADDSLOTSRANGE", first, last)
    for number, client in enumerate(clients, 1):
        client.execute_command("CLUSTER SET-CONFIG-EPOCH", number)
    for node in nodes[1:]:
        clients[0].execute_command("CLUSTER MEET", *node.split(":"))
    within(30, lambda: all(len(client.execute_command("CLUSTER NODES")) == len(nodes) for client in clients))
    for number, client in enumerate(clients[3:]):
        client.execute_command("CLUSTER REPLICATE", clients[(number + 1) % 3].execute_command("CLUSTER MYID").decode())
    within(60, lambda: all(client.info("replication").get("connected_slaves") == 1 for client in clients[:3]))
    within(60, lambda: all(client.cluster("info")["cluster_state"] == "ok" for client in clients))


def answers_ping(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


class Part(NamedTuple):
    """A part of the composition that runs."""

    name: str
    process: subprocess.Popen[bytes]
    port: int

    def get(self, path: str, **headers: str) -> requests.Response:
        return requests.get(f"http://127.0.0.1:{self.port}{path}", headers=headers, timeout=5)

    def is_healthy(self) -> bool:
        """Run the health check of the part, or of the image."""
        listed = SERVICES[self.name].get("healthcheck", {}).get("test", ["CMD", *json.loads(CHECK)])
        assert listed[:2] == ["CMD", "python"]
        words = [word.replace(":9100", f":{self.port}").replace(":8000", f":{self.port}") for word in listed[2:]]
        return subprocess.run([sys.executable, *words], stderr=subprocess.DEVNULL).returncode == 0

    def counted(self, metric: str) -> float:
        """Return the sum of a metric."""
        return sum(float(number) for number in re.findall(rf"^{metric}(?:{{.*}})? (\S+)$", self.get("/metrics").text, re.MULTILINE))


@pytest.mark.soak
def test_three_machines_of_the_cluster_play_a_match(machines: dict[tuple[int, str], Part]) -> None:
    for part in machines.values():
        within(60, part.is_healthy)
    one, other = machines[0, "web"], machines[1, "web"]
    within(60, lambda: one.get("/readyz").ok and other.get("/readyz").ok)
    assert one.get("/readyz").json()["replicas"] == {"held": 1, "connected": 1}
    url = f"http://127.0.0.1:{one.port}/v1"
    key = requests.post(f"{url}/players", json={"name": "Ada"}, timeout=10).json()["key"]
    headers, seats = {"Authorization": f"Bearer {key}"}, {"red": "ai:greedy", "blue": "ai:strong"}
    found = [
        requests.post(f"{url}/matches", json={"game": "war", "seats": seats}, headers=headers, timeout=10).json()["id"] for _ in range(6)
    ]
    matches = [f"/v1/matches/{match}" for match in found]
    workers = [part for (_, name), part in machines.items() if name == "worker"]
    within(120, lambda: machines[0, "searcher"].counted("warledger_search_seconds_count") > 0)
    within(60, lambda: sum(part.counted("warledger_tickets_total") for part in workers) > 2)
    within(60, lambda: machines[0, "journal"].counted("warledger_journaled_total") > 2)
    assert all(other.get(match).json()["version"] > 1 for match in matches)
    assert machines[0, "journal"].counted("warledger_entries_lost") == 0


def filled(text: str, given: Mapping[str, str], places: Mapping[str, str] | None = None) -> str:
    """Return a text of the composition with what Compose puts in place of variables, and other places of servers and folders."""
    text = re.sub(r"\$\{(\w+)(?::-(.*?)|:\?.*?)?\}", lambda found: given.get(found[1], found[2] or ""), text)
    for here, there in (places or {}).items():
        text = text.replace(here, there)
    return text


@contextmanager
def running(command: Sequence[str], settings: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command for a block, in a session of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1", **settings}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield process
    finally:
        for number in (signal.SIGTERM, signal.SIGCONT):
            os.killpg(process.pid, number)
        process.wait(20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.soak
def test_the_parts_of_the_composition_play_a_match_and_their_health_checks_are_true(parts: dict[str, Part]) -> None:
    web, worker = parts["web"], parts["worker"]
    within(60, lambda: all(part.is_healthy() for part in parts.values()))
    within(20, lambda: web.get("/readyz").ok)
    url = f"http://127.0.0.1:{web.port}/v1"
    key = requests.post(f"{url}/players", json={"name": "Ada"}, timeout=10).json()["key"]
    seats = {"red": "ai:greedy", "blue": "ai:strong"}
    made = requests.post(f"{url}/matches", json={"game": "war", "seats": seats}, headers={"Authorization": f"Bearer {key}"}, timeout=10)
    match = f"/v1/matches/{made.json()['id']}"
    within(60, lambda: parts["searcher"].counted("warledger_search_seconds_count") > 0 and worker.counted("warledger_tickets_total") > 0)
    within(20, lambda: parts["journal"].counted("warledger_journaled_total") > 2)
    assert parts["journal"].counted("warledger_entries_lost") == 0
    assert web.get(match, Origin=ORIGIN).headers["Access-Control-Allow-Origin"] == ORIGIN
    worker.process.send_signal(signal.SIGSTOP)
    assert not worker.is_healthy()
    worker.process.send_signal(signal.SIGCONT)
    assert worker.is_healthy()


def test_files_of_a_server_are_written_once_and_those_of_another_format_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("WARLEDGER_STORE_PASSWORD", raising=False)
    command = ["--configure", str(tmp_path / "keys")]
    assert functions.main(command) == 1
    monkeypatch.setenv("WARLEDGER_STORE_PASSWORD", PASSWORD)
    assert functions.main(command) == 0
    before = {file: file.read_bytes() for file in (tmp_path / "keys").iterdir()}
    assert functions.main(command) == 0
    assert {file: file.read_bytes() for file in (tmp_path / "keys").iterdir()} == before
    (tmp_path / "keys/commands.conf").write_text("rename-command XADD x\n")
    assert functions.main(command) == 1
    assert functions.main(["unix:///nowhere", "--with", str(tmp_path / "keys")]) == 1
    assert functions.main(["unix:///nowhere", "--with", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert ["WARLEDGER_STORE_PASSWORD" in said, "another format of data" in said, "cannot be loaded" in said, "cannot be used" in said] == [
        True
    ] * 4


def option(service: dict[str, Any], name: str) -> str:
    """Return the value of an option in the command of a service."""
    command: list[str] = service["command"]
    return command[command.index(name) + 1]
