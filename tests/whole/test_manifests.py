"""The manifests in examples/ for Kubernetes and systemd: what they name exists and fits together, and their form is right."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.peers import installed
from service.api.routes import OPERATIONS
from tests.whole.test_containers import CLUSTER, CODE, DIGEST, DOCKERFILE, SERVICES, known_options, option
from tools import functions
from warledger.__main__ import module_of

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples/kubernetes"
FILES = sorted(FOLDER.glob("*.yaml"))
UNIT = ROOT / "examples/systemd/warledger.service"
KUBERNETES = ("1.31.0", "1.37.0")  # the oldest and the newest that the manifests are for
OBJECTS: list[dict[str, Any]] = [found for file in FILES if file.stem != "kustomization" for found in yaml.safe_load_all(file.read_text())]
CUSTOM = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
SYSTEMD = shutil.which("systemd-analyze")


def of_kind(*kinds: str) -> list[dict[str, Any]]:
    return [found for found in OBJECTS if found["kind"] in kinds]


def pods() -> dict[str, dict[str, Any]]:
    """Return the template of each pod, by the name of what makes it."""
    return {found["metadata"]["name"]: found["spec"]["template"] for found in of_kind("Deployment", "StatefulSet")}


def containers(first: bool = True) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each container with the name of its pod. `first`: also those that end before the others begin."""
    for name, pod in pods().items():
        for one in [*(pod["spec"].get("initContainers", []) if first else []), *pod["spec"]["containers"]]:
            yield name, one


def test_the_customization_lists_every_file() -> None:
    assert sorted(CUSTOM["resources"]) == [file.name for file in FILES if file.stem != "kustomization"]


def test_images_are_pinned_and_ours_is_named_in_one_place() -> None:
    (ours,) = CUSTOM["images"]
    assert ours["name"] == "warledger"
    for _, one in containers():
        assert one["image"] == "warledger" or one["image"] == SERVICES["redis"]["image"]
        assert one["image"] == "warledger" or DIGEST.fullmatch(one["image"])


@pytest.mark.parametrize("one", [one for _, one in containers() if one["command"][0] == "warledger"], ids=lambda one: one["name"])
def test_every_command_and_option_exists(one: dict[str, Any]) -> None:
    module = module_of(one["command"][1])
    assert importlib.util.find_spec(module) is not None
    for word in one["command"]:
        assert not word.startswith("--") or f'"{word}"' in known_options(module)


def test_the_parts_run_as_in_the_composition() -> None:
    """So what is tried of the one holds for the other."""
    commands = {one["name"]: one["command"] for _, one in containers()}
    assert option({"command": commands["web"]}, "--workers") == "0"
    assert commands["searcher"] == SERVICES["searcher"]["command"]
    store, backup = [one for name, one in containers() if name == "store"]
    places = {"$(WARLEDGER_BACKUP)": "", "/data": "/node"}
    assert [places.get(word, word) for word in backup["command"]][3:] == CLUSTER["backup-node"]["command"][3:]
    assert store["command"][:-2] == SERVICES["redis"]["command"]
    (queue,) = [one for name, one in containers() if name == "queue"]
    assert [word for word in queue["command"][:-2] if "$" not in word] == [w for w in SERVICES["queue"]["command"] if "$" not in w]


def test_settings_are_read_by_the_code_and_come_from_the_two_secrets() -> None:
    secrets = set()
    for _, one in containers():
        named = {each["name"]: each for each in one.get("env", [])}
        assert all(name in CODE for name in named if name.startswith("WARLEDGER_"))
        for each in named.values():
            used = re.findall(r"\$\((\w+)\)", each.get("value", ""))
            assert all(list(named).index(name) < list(named).index(each["name"]) for name in used), "only what stands before is known"
            if "valueFrom" in each:
                secrets.add(each["valueFrom"]["secretKeyRef"]["key"])
    (settings,) = of_kind("ConfigMap")
    assert all(name in CODE for name in settings["data"])
    assert {"WARLEDGER_TRUSTED_PROXIES", "WARLEDGER_CORS_ORIGINS"} <= set(settings["data"])
    told = (FOLDER / "README.md").read_text()
    assert all(f"--from-literal={key}=" in told for key in secrets)
    mounted = {volume["secret"]["secretName"] for pod in pods().values() for volume in pod["spec"].get("volumes", []) if "secret" in volume}
    assert all(f"create secret generic {name} " in told for name in {*mounted, "warledger"})


def test_selectors_find_their_pods_and_ports() -> None:
    labels = {name: pod["metadata"]["labels"] for name, pod in pods().items()}
    ports = {name: {port["name"] for at, one in containers() if at == name for port in one.get("ports", [])} for name in labels}
    for made in of_kind("Deployment", "StatefulSet"):
        assert made["spec"]["selector"]["matchLabels"].items() <= labels[made["metadata"]["name"]].items()
    for service in of_kind("Service"):
        found = [name for name, has in labels.items() if service["spec"]["selector"].items() <= has.items()]
        assert found
        assert all(port["targetPort"] in ports[name] for name in found for port in service["spec"]["ports"])
    for budget in of_kind("PodDisruptionBudget"):
        wanted = budget["spec"]["selector"]["matchLabels"].items()
        (made,) = [one for one in of_kind("Deployment", "StatefulSet") if wanted <= labels[one["metadata"]["name"]].items()]
        assert made["spec"]["replicas"] > 1, "of a single pod it would stop every drain of a node"
    services = {service["metadata"]["name"] for service in of_kind("Service")}
    hosts = {host for _, one in containers() for host in re.findall(r"redis://(?:\S*@)?(\w+):6379", json.dumps(one))}
    assert hosts <= services
    assert {made["spec"]["serviceName"] for made in of_kind("StatefulSet")} <= services


def test_volumes_exist_and_what_must_last_outlives_its_pod() -> None:
    claims = {claim["metadata"]["name"] for claim in of_kind("PersistentVolumeClaim")}
    for made in of_kind("Deployment", "StatefulSet"):
        name, volumes = made["metadata"]["name"], made["spec"]["template"]["spec"]["volumes"]
        known = {one["metadata"]["name"] for one in made["spec"].get("volumeClaimTemplates", [])}.union(one["name"] for one in volumes)
        assert {mount["name"] for at, one in containers() if at == name for mount in one["volumeMounts"]} <= known
        assert {one["persistentVolumeClaim"]["claimName"] for one in volumes if "persistentVolumeClaim" in one} <= claims
    lasting = {mount["mountPath"] for _, one in containers() for mount in one["volumeMounts"] if mount["name"] in ("ledger", "journal")}
    assert lasting == {"/data", "/data/journal"}


def test_probes_ask_what_is_answered() -> None:
    paths = {operation.path for operation in OPERATIONS} | {"/healthz"}
    for name, one in containers(first=False):
        ports = {port["name"] for port in one["ports"]}
        assert {"readinessProbe", "livenessProbe"} <= set(one), name
        for kind in ("startupProbe", "readinessProbe", "livenessProbe"):
            probe = one.get(kind, {})
            for way in ("httpGet", "tcpSocket"):
                assert way not in probe or probe[way]["port"] in ports
            assert "httpGet" not in probe or probe["httpGet"]["path"] in paths
        if "metrics" in ports:
            assert option(one, "--listen").endswith(f":{one['ports'][0]['containerPort']}")
    (web,) = [one for name, one in containers() if name == "web"]
    asked = {kind: web[kind]["httpGet"]["path"] for kind in ("startupProbe", "readinessProbe", "livenessProbe")}
    assert asked == {"startupProbe": "/readyz", "readinessProbe": "/healthz", "livenessProbe": "/healthz"}


def test_pods_may_do_as_little_as_possible() -> None:
    (user,) = re.findall(r"useradd .*--uid (\d+)", DOCKERFILE)
    for pod in pods().values():
        assert pod["spec"]["securityContext"].items() >= {"runAsNonRoot": True, "runAsUser": int(user), "runAsGroup": int(user)}.items()
        assert pod["spec"]["automountServiceAccountToken"] is False
    for _, one in containers():
        assert one["securityContext"] == {
            "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]},
        }  # fmt: skip
        assert {"requests", "limits"} == set(one["resources"])


def test_the_keepers_password_is_only_where_the_functions_are_loaded() -> None:
    mounts = [(name, one["name"]) for name, one in containers() if any(mount["mountPath"] == "/keys" for mount in one["volumeMounts"])]
    assert mounts == [("journal", "functions"), ("store", "valkey")]
    (of_store,) = [volume["secret"] for volume in pods()["store"]["spec"]["volumes"] if "secret" in volume]
    assert [item["key"] for item in of_store["items"]] == [functions.COMMANDS, functions.USERS]


@pytest.fixture(scope="module")
def schemas() -> Path:
    """The folder of packages that know the schemas."""
    folder, pinned = ROOT / ".bench/manifests", ROOT / "requirements-manifests.txt"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", "--require-hashes"]
    if not installed(folder, pinned.read_text(), [*pip, "--target", str(folder), "-r", str(pinned)]):
        pytest.skip("kubernetes-validate and compose-spec cannot be installed here")
    return folder


def run(schemas: Path, *command: str, given: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(schemas)}
    return subprocess.run([sys.executable, *command], env=environment, input=given, capture_output=True, text=True)


@pytest.mark.soak
@pytest.mark.parametrize("version", KUBERNETES)
def test_the_manifests_fit_the_schemas_of_kubernetes(schemas: Path, tmp_path: Path, version: str) -> None:
    command = ["-m", "kubernetes_validate", "--strict", "--kubernetes-version", version]
    files = [str(file) for file in FILES if file.stem != "kustomization"]
    checked = run(schemas, *command, *files)
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.count(" passed for ") == len(OBJECTS)
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text((FOLDER / "web.yaml").read_text().replace("periodSeconds", "periodsSeconds"))
    assert run(schemas, *command, str(wrong)).returncode == 1


COMPOSE = "import sys; from compose_spec import PyCompose; PyCompose.from_json(sys.stdin.read())"


@pytest.mark.soak
@pytest.mark.parametrize("file", ["compose.yaml", "compose.cluster.yaml"])
def test_the_composition_fits_the_specification_of_compose(schemas: Path, file: str) -> None:
    text = re.sub(r"\$\{WARLEDGER_HOST[^}]*\}", "10.0.0.1", json.dumps(yaml.safe_load((ROOT / file).read_text())))
    digests = re.sub(r":[\w.-]+@sha256", "@sha256", text)  # the checker wants either a tag or a digest
    assert (checked := run(schemas, "-c", COMPOSE, given=digests)).returncode == 0, checked.stderr
    assert run(schemas, "-c", COMPOSE, given=digests.replace('"security_opt"', '"security_opts"')).returncode == 1


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl_builds_what_the_customization_lists(tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "kubernetes")
    built = subprocess.run(["kubectl", "kustomize", str(tmp_path / "kubernetes")], capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    found = list(yaml.safe_load_all(built.stdout))
    assert len(found) == len(OBJECTS)
    for made in found:
        assert made["metadata"]["namespace"] == "warledger"
        if made["kind"] in ("Deployment", "StatefulSet"):
            assert made["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/part-of"] == "warledger"
    assert '"image": "warledger"' not in json.dumps(found)


def unit() -> dict[str, list[str]]:
    """Return the settings of the unit."""
    found: dict[str, list[str]] = {}
    for line in UNIT.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def test_the_unit_starts_the_service_with_options_that_exist() -> None:
    (command,) = unit()["ExecStart"]
    program, name, *words = command.split()
    module = module_of(name)
    assert program == "/srv/warledger/bin/warledger"
    assert importlib.util.find_spec(module) is not None
    assert all(f'"{word}"' in known_options(module) for word in words if word.startswith("--"))
    assert option({"command": words}, "--data") == f"/var/lib/{unit()['StateDirectory'][0]}"
    assert unit()["KillMode"] == ["mixed"], "`serve` ends its parts in order"


@pytest.mark.skipif(SYSTEMD is None, reason="systemd-analyze is not installed")
def test_systemd_understands_the_unit_and_finds_it_well_confined(tmp_path: Path) -> None:
    file = tmp_path / UNIT.name
    file.write_text(UNIT.read_text().replace("/srv/warledger/bin/warledger", sys.executable))
    assert complaints(file) == []
    file.write_text(file.read_text().replace("KillMode=mixed", "KillMode=some"))
    assert len(complaints(file)) == 1
    judged = subprocess.run([str(SYSTEMD), "security", "--offline=true", "--threshold=40", str(file)], capture_output=True, text=True)
    assert judged.returncode == 0, judged.stdout[-200:]


def complaints(file: Path) -> list[str]:
    """Return what systemd says about a unit, and not about others of this machine."""
    verified = subprocess.run([str(SYSTEMD), "verify", str(file)], capture_output=True, text=True)
    return [line for line in verified.stderr.splitlines() if file.name in line]
