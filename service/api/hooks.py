"""Webhooks of a player: make, change and delete them, see what they have sent, and let them send something."""

from __future__ import annotations

from typing import Any

from flask import Response

from events.hooks import deliveries, messages, push, subscriptions
from events.hooks.deliveries import FAILURES, KEPT, Delivery
from events.hooks.messages import TEST
from events.hooks.subscriptions import MOST_HOOKS, OVERLAP, PLAYER, REASONS, ROLES, Hook
from games.schema import described, flag, ids, listing, nullable, record, text, whole
from record.notices import KINDS
from service.api.operations import Answer, Body, Call, Operation, in_json
from service.api.shapes import HOOK_ID, MATCH_ID, TIME, extending, named, reference
from service.context import Service
from service.http.addresses import address_of
from service.http.responses import empty_response, json_response, made, private, unstored
from service.http.schemas import LARGEST, HookBody, HookChangeBody, HookRotationBody


def list_my_hooks(service: Service, call: Call) -> Response:
    """Return the caller's hooks."""
    found = subscriptions.listed(service.platform, call.caller.player())
    return private(json_response({"hooks": [_shown(service, hook) for hook in found], "push_key": push.public_key(service.platform)}))


def create_my_hook(service: Service, call: Call) -> Response:
    """Create a hook for the caller."""
    player, body = call.caller.player(), call.body
    call.info.used = service.throttle.spend(("new_hooks", address_of(call.environ)))
    keys = (body["push"]["p256dh"], body["push"]["auth"]) if "push" in body else None
    asked = {"role": body.get("role", PLAYER), "match": body.get("match"), "push": keys, "request": call.request()}
    hook = subscriptions.create(service.platform, player, call.caller.signer, body["url"], body["kinds"], **asked)
    return unstored(made(_with_secret(service, player, hook), f"/v1/players/me/hooks/{hook.id}"))


def get_my_hook(service: Service, call: Call, hook: str) -> Response:
    """Return one of the caller's hooks."""
    return private(json_response(_shown(service, subscriptions.get(service.platform, call.caller.player(), hook))))


def change_my_hook(service: Service, call: Call, hook: str) -> Response:
    """Change one of the caller's hooks."""
    changed = subscriptions.change(service.platform, call.caller.player(), call.caller.signer, hook, **call.body)
    return private(json_response(_shown(service, changed)))


def delete_my_hook(service: Service, call: Call, hook: str) -> Response:
    """Delete one of the caller's hooks."""
    subscriptions.delete(service.platform, call.caller.player(), call.caller.signer, hook)
    return empty_response(204)


def rotate_my_hook(service: Service, call: Call, hook: str) -> Response:
    """Give one of the caller's hooks another secret. Return it with the secret."""
    player = call.caller.player()
    changed = subscriptions.rotate(service.platform, player, call.caller.signer, hook, call.body.get("overlap", OVERLAP))
    return unstored(json_response(_with_secret(service, player, changed)))


def test_my_hook(service: Service, call: Call, hook: str) -> Response:
    """Let one of the caller's hooks send a test."""
    player = call.caller.player()
    subscriptions.get(service.platform, player, hook)
    call.info.used = service.throttle.spend(("hook_calls", player))
    return json_response({"id": deliveries.send_test(service.platform, player, hook).id}, 202)


def list_my_deliveries(service: Service, call: Call, hook: str) -> Response:
    """Return what one of the caller's hooks has sent lately."""
    found = deliveries.listed(service.platform, call.caller.player(), hook)
    return private(json_response({"deliveries": list(map(_delivery, found))}))


def send_my_delivery_again(service: Service, call: Call, hook: str, delivery: str) -> Response:
    """Let one of the caller's hooks send a message again."""
    player = call.caller.player()
    subscriptions.get(service.platform, player, hook)
    call.info.used = service.throttle.spend(("hook_calls", player))
    deliveries.send_again(service.platform, player, hook, delivery)
    return json_response({"id": delivery}, 202)


def _shown(service: Service, hook: Hook) -> dict[str, Any]:
    stopped = None if hook.stopped is None else dict(zip(("reason", "at"), hook.stopped, strict=True))
    about = {name: getattr(hook, name) for name in ("id", "url", "role", "kinds", "match", "created", "on")}
    return {**about, "push": hook.push is not None, "stopped": stopped, "public_key": messages.public_key(service.platform)}


def _with_secret(service: Service, player: str, hook: Hook) -> dict[str, Any]:
    return {**_shown(service, hook), "secret": subscriptions.secret_of(service.platform, player, hook)}


def _delivery(found: Delivery) -> dict[str, Any]:
    """Return a delivery as its player sees it."""
    match, version, index = found.about or (None, None, None)
    about = {"id": found.id, "type": found.kind, "match": match, "version": version, "index": index, "at": found.at}
    tried = {"number": found.number, "again": found.again, "ms": found.ms}
    return {**about, **tried, "status": found.status, "answer": found.answer, "failure": found.failure}


_KIND = ids([*KINDS], "A kind of event.")
_HOOK = {
    "id": HOOK_ID,
    "url": text(about="Where it sends events."),
    "role": ids(ROLES, "Whose events it sends: what you are told, or what is told in the matches that you created."),
    "kinds": listing(_KIND, about="The kinds of events that it sends."),
    "match": nullable(described(MATCH_ID, "The only match whose events it sends, or null.")),
    "created": TIME,
    "on": flag("Whether it sends anything."),
    "push": flag("Whether it is a push subscription of a browser."),
    "stopped": nullable(
        record(
            {"reason": ids(REASONS, "`gone`: the receiver answered 410. `failing`: nothing arrived for three days."), "at": TIME},
            "Why the server has turned it off, and when; null if it has not.",
        )
    ),
    "public_key": text(about="The server's key for the signatures `v1a`, in the form of Standard Webhooks."),
}
HOOK = named("Hook", record(_HOOK, "A webhook, without its secret."))
_LIST = {
    "hooks": listing(HOOK, high=MOST_HOOKS, about="The webhooks."),
    "push_key": text(about="The `applicationServerKey` for push subscriptions."),
}
HOOKS = named("HookList", record(_LIST, "Your webhooks, oldest first."))
NEW_HOOK = named(
    "NewHook",
    extending(HOOK, {"secret": text(about="The secret for the signatures `v1`. It is not shown again.")}, "A webhook with its secret."),
)
_DELIVERY = named(
    "Delivery",
    record(
        {
            "id": text(about="The id of the message, the same for every try. The receiver has it as `webhook-id`."),
            "type": ids([*KINDS, TEST], "The kind of the event."),
            "match": nullable(MATCH_ID),
            "version": nullable(whole(1, LARGEST, "The version that the event names.")),
            "index": nullable(whole(0, LARGEST, "The index that the event names.")),
            "at": described(TIME, "When the message was sent, in milliseconds since 1970."),
            "number": whole(1, LARGEST, "Which try it was."),
            "again": flag("Whether somebody asked for it."),
            "ms": whole(0, LARGEST, "How long the receiver took."),
            "status": nullable(whole(0, 999, "The status of the answer; null without one.")),
            "answer": text(about="The beginning of the answer."),
            "failure": nullable(
                ids(
                    FAILURES,
                    "Why there was no answer. `address`: the host is not public. `name`: it has no address. `connection`: it took none, or "
                    "broke it. `certificate`: it has a wrong one. `time`: it took more than 10 seconds. `answer`: its answer is not HTTP.",
                )
            ),
        },
        "A try to send a message.",
    ),
)
DELIVERIES = named(
    "DeliveryList", record({"deliveries": listing(_DELIVERY, high=KEPT, about="The tries.")}, "What a webhook has sent, newest first.")
)
_ASKED = named("AskedMessage", record({"id": text(about="The id of the message.")}, "A message that will be sent once."))

_BODY = Body(
    reference("HookRequest"),
    HookBody(),
    examples={
        "whose turn it is": {"url": "https://chat.example/hooks/1", "kinds": ["turn", "over"]},
        "for a tournament": {"url": "https://cup.example/", "kinds": ["started", "over"], "role": "organiser"},
    },
)
_CHANGE = Body(reference("HookChangeRequest"), HookChangeBody(), examples={"off": {"on": False}, "fewer": {"kinds": ["over"]}})
_ROTATION = Body(reference("HookRotationRequest"), HookRotationBody(), examples={"with an overlap": {}, "after a leak": {"overlap": 0}})
_PATH = "/v1/players/me/hooks"

OPERATIONS = (
    Operation(
        "list_my_hooks", "GET", _PATH, "hooks", "List your webhooks", list_my_hooks,
        {200: in_json("Your webhooks, oldest first, without their secrets.", HOOKS)},
        "What each sends, where to, and whether the server has turned it off.",
        key="needed", by="player", scope="account",
    ),
    Operation(
        "create_my_hook", "POST", _PATH, "hooks", "Create a webhook", create_my_hook,
        {201: in_json("The webhook. Only this answer, and that of `rotate`, contain its secret.", NEW_HOOK, ("Location",))},
        "From now on it sends what happens, by the rules of Standard Webhooks (docs/api.md). A player has at most 10. With an "
        "`Idempotency-Key`, repeating the request with the same key gets the same answer for an hour.",
        key="needed", by="player", scope="account", headers=("Idempotency-Key",), body=_BODY,
        problems=("too_many_hooks", "bad_hook_url", "no_such_match"),
    ),
    Operation(
        "get_my_hook", "GET", f"{_PATH}/{{hook}}", "hooks", "Get one of your webhooks", get_my_hook,
        {200: in_json("The webhook, without its secret.", HOOK)},
        "What it sends, where to, and whether the server has turned it off.",
        key="needed", by="player", scope="account",
    ),
    Operation(
        "change_my_hook", "PATCH", f"{_PATH}/{{hook}}", "hooks", "Change one of your webhooks", change_my_hook,
        {200: in_json("The webhook afterwards.", HOOK)},
        "What the body does not name stays. `on`: true turns on what the server has turned off.",
        key="needed", by="player", scope="account", body=_CHANGE, problems=("bad_hook_url", "request_reused"),
    ),
    Operation(
        "delete_my_hook", "DELETE", f"{_PATH}/{{hook}}", "hooks", "Delete one of your webhooks", delete_my_hook,
        {204: Answer("The webhook is deleted.")},
        "What it had still to send is not sent.",
        key="needed", by="player", scope="account",
    ),
    Operation(
        "rotate_my_hook", "POST", f"{_PATH}/{{hook}}/rotate", "hooks", "Give one of your webhooks another secret", rotate_my_hook,
        {200: in_json("The webhook, with its new secret.", NEW_HOOK)},
        "For a day, or as long as you say, the old secret signs, too: each message has a signature by both.",
        key="needed", by="player", scope="account", body=_ROTATION, problems=("request_reused",),
    ),
    Operation(
        "test_my_hook", "POST", f"{_PATH}/{{hook}}/test", "hooks", "Let one of your webhooks send a test", test_my_hook,
        {202: in_json("The message, which will be among the deliveries.", _ASKED)},
        "The message has the type `test`. It is sent once, whatever the answer.",
        key="needed", by="player", scope="account", problems=("hook_off",),
    ),
    Operation(
        "list_my_deliveries", "GET", f"{_PATH}/{{hook}}/deliveries", "hooks", "List what one of your webhooks has sent",
        list_my_deliveries,
        {200: in_json("The newest tries with their answers, newest first.", DELIVERIES)},
        "Each try is one, with the beginning of its answer. The newest 100 are kept.",
        key="needed", by="player", scope="account",
    ),
    Operation(
        "send_my_delivery_again", "POST", f"{_PATH}/{{hook}}/deliveries/{{delivery}}/again", "hooks", "Send a message again",
        send_my_delivery_again,
        {202: in_json("The message, which will be among the deliveries.", _ASKED)},
        "It has the same id and the same body. It is sent once, whatever the answer, beside what the webhook sends anyway.",
        key="needed", by="player", scope="account", problems=("no_such_delivery", "hook_off"),
    ),
)  # fmt: skip
