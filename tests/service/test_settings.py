"""Settings come from the environment. A value of the wrong kind is named with its variable."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from environs import EnvError

import events.platform
from service.http.addresses import networks
from service.http.limits import AMOUNTS, NO_LIMITS
from service.http.settings import Settings, settings_from_environment
from service.supervisor import serve


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove every setting from the environment."""
    for name in os.environ:
        if name.startswith("WARLEDGER_"):
            monkeypatch.delenv(name)


def test_without_variables_the_defaults_hold() -> None:
    assert settings_from_environment() == Settings()
    assert events.platform.settings_from_environment() == events.platform.Settings()


def test_every_setting_of_the_service_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "WARLEDGER_ADMIN_KEY": "a-secret-of-32-characters-or-more",
        "WARLEDGER_CORS_ORIGINS": "https://a.example, https://b.example,",
        "WARLEDGER_BODY_LIMIT": "1000",
        "WARLEDGER_HEADER_LIMIT": "2000",
        "WARLEDGER_CONNECTIONS": "6000",
        "WARLEDGER_STREAMS": "5",
        "WARLEDGER_STREAMS_PER_KEY": "6",
        "WARLEDGER_STREAMS_PER_ADDRESS": "7",
        "WARLEDGER_STREAMS_PER_PREFIX": "8",
        "WARLEDGER_STREAM_SECONDS": "60.5",
        "WARLEDGER_COMMENT_SECONDS": "2",
        "WARLEDGER_WAIT_LIMIT": "3",
        "WARLEDGER_KEY_SECONDS": "4",
        "WARLEDGER_LOG_REQUESTS": "0",
        "WARLEDGER_TRUSTED_PROXIES": "10.0.0.0/8, ::1,",
        "WARLEDGER_URL": "https://Play.example:8443/",
        "WARLEDGER_PYODIDE": "/elsewhere",
        "WARLEDGER_LIMIT_PLAYERS": "5",
        "WARLEDGER_LIMIT_AUDITS": "0",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert settings_from_environment() == Settings(
        "a-secret-of-32-characters-or-more",
        ("https://a.example", "https://b.example"),
        1000,
        2000,
        6000,
        5,
        6,
        7,
        8,
        60.5,
        2.0,
        3.0,
        4.0,
        log_requests=False,
        trusted_proxies=networks(["10.0.0.0/8", "::1"]),
        url="https://play.example:8443",
        limits={**AMOUNTS, "players": 5, "audits": 0},
        pyodide=Path("/elsewhere"),
    )


@pytest.mark.parametrize(
    ("given", "found"),
    [("", ("*",)), (" * ", ("*",)), ("none", ()), ("https://a.example:8443,app://a", ("https://a.example:8443", "app://a"))],
)
def test_origins_are_all_none_or_named(monkeypatch: pytest.MonkeyPatch, given: str, found: tuple[str, ...]) -> None:
    monkeypatch.setenv("WARLEDGER_CORS_ORIGINS", given)
    assert settings_from_environment().cors_origins == found


@pytest.mark.parametrize(
    "wrong", ["https://a.example/", "a.example", "*, https://a.example", "none,https://a.example", "https://A.example", "null"]
)
def test_what_no_browser_sends_is_no_origin(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("WARLEDGER_CORS_ORIGINS", wrong)
    with pytest.raises(EnvError, match="WARLEDGER_CORS_ORIGINS"):
        settings_from_environment()


def test_one_setting_turns_all_limits_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLEDGER_LIMITS", "0")
    assert settings_from_environment() == Settings(limits=NO_LIMITS)


def test_every_setting_of_the_platform_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "WARLEDGER_REDIS_URL": "redis://a",
        "WARLEDGER_QUEUE_URL": "redis://b",
        "WARLEDGER_DATA": "/somewhere",
        "WARLEDGER_FSYNC": "everysec",
        "WARLEDGER_CLUSTER": "1",
        "WARLEDGER_PARTITIONS": "4",
        "WARLEDGER_CACHED": "7",
        "WARLEDGER_HOOK_ORIGINS": "http://Chat.internal:8065, https://other.internal/,",
        "WARLEDGER_NAME_SERVERS": "9.9.9.9, [2620:fe::fe]:5353,",
        "WARLEDGER_REPLICAS": "2",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    expected = events.platform.Settings("redis://a", "redis://b", Path("/somewhere"), "everysec", cluster=True, partitions=4, cached=7)
    expected = expected._replace(
        hook_origins=frozenset({"http://chat.internal:8065", "https://other.internal:443"}),
        name_servers=("9.9.9.9:53", "[2620:fe::fe]:5353"),
        replicas=2,
    )
    assert events.platform.settings_from_environment() == expected


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("WARLEDGER_HOOK_ORIGINS", "chat.internal", "not a scheme and a host"),
        ("WARLEDGER_HOOK_ORIGINS", "http://chat.internal/path", "not a scheme and a host"),
        ("WARLEDGER_HOOK_ORIGINS", "http://user@chat.internal", "not a scheme and a host"),
        ("WARLEDGER_NAME_SERVERS", "dns.example", "not the address of a name server"),
        ("WARLEDGER_NAME_SERVERS", "9.9.9.9:dns", "not the address of a name server"),
    ],
)
def test_a_setting_for_webhooks_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(EnvError, match=f"{name}.*{reason}"):
        events.platform.settings_from_environment()


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("WARLEDGER_STREAMS", "many", "Not a valid integer"),
        ("WARLEDGER_STREAMS", "", "Not a valid integer"),
        ("WARLEDGER_STREAMS", "-1", "greater than or equal to 0"),
        ("WARLEDGER_WAIT_LIMIT", "9s", "Not a valid number"),
        ("WARLEDGER_KEY_SECONDS", "nan", "not permitted"),
        ("WARLEDGER_ADMIN_KEY", "k" * 31, "An admin key has 32 to 200"),
        ("WARLEDGER_ADMIN_KEY", "k" * 201, "An admin key has 32 to 200"),
        ("WARLEDGER_ADMIN_KEY", "a key with blanks and enough letters", "no blanks"),
        ("WARLEDGER_ADMIN_KEY", "\u00e9" * 40, "ASCII"),
        ("WARLEDGER_LOG_REQUESTS", "perhaps", "Not a valid boolean"),
        ("WARLEDGER_LIMIT_PLAYERS", "-1", "greater than or equal to 0"),
        ("WARLEDGER_LIMITS", "some", "Not a valid boolean"),
        ("WARLEDGER_TRUSTED_PROXIES", "10.0.0.0/8, proxy.example", "'proxy.example' does not appear to be an IPv4 or IPv6 network"),
        ("WARLEDGER_TRUSTED_PROXIES", "10.0.0.1/8", "has host bits set"),
        *[
            ("WARLEDGER_URL", value, "a scheme and a host")
            for value in ("play.example", "ftp://play.example", "https://play.example/path", "https://a b", 'https://a"b', "https://u:p@a")
        ],
    ],
)
def test_a_value_of_the_wrong_kind_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(EnvError, match=f'"{name}" invalid: .*{reason}'):
        settings_from_environment()


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("WARLEDGER_PARTITIONS", "0", "greater than or equal to 1"),
        ("WARLEDGER_CACHED", "4096.5", "Not a valid integer"),
        ("WARLEDGER_FSYNC", "sometimes", "one of: always, everysec, no"),
        ("WARLEDGER_CLUSTER", "perhaps", "Not a valid boolean"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_by_the_platform_too(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, reason: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(EnvError, match=f'"{name}" invalid: .*{reason}'):
        events.platform.settings_from_environment()


def test_an_empty_admin_key_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARLEDGER_ADMIN_KEY", "")
    assert settings_from_environment().admin_key is None


@pytest.mark.parametrize("text", ["", "short\n", "two words that are long enough, though\n"])
def test_an_admin_key_in_its_file_that_is_too_short_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "admin.key"
    file.write_text(text)
    with pytest.raises(serve.Unable, match=r"cannot be the admin key\. An admin key has 32 to 200"):
        serve.admin_key(file)
    file.unlink()
    assert len(serve.admin_key(file)) >= 32


def test_serve_refuses_a_short_admin_key_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WARLEDGER_ADMIN_KEY", "secret")
    monkeypatch.setenv("WARLEDGER_REDIS_URL", "redis://nowhere")
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert serve.main(["--data", str(tmp_path), "--port", "0"]) == 1
    assert 'Environment variable "WARLEDGER_ADMIN_KEY" invalid: An admin key has 32 to 200' in capsys.readouterr().err


def test_serve_names_a_value_of_the_wrong_kind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("WARLEDGER_STREAMS", "many")
    monkeypatch.setenv("WARLEDGER_REDIS_URL", "redis://nowhere")
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert serve.main(["--data", str(tmp_path), "--port", "0"]) == 1
    assert 'Environment variable "WARLEDGER_STREAMS" invalid: Not a valid integer.' in capsys.readouterr().err
