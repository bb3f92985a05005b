"""Checkpoints, proofs as texts, and the cosignatures of witnesses."""

from __future__ import annotations

import base64

import pytest

from evidence import checkpoints, cosigning, tiles, tree
from evidence.checkpoints import Checkpoint, Proof
from evidence.cosigning import Request
from evidence.notes import COSIGNATURE, ED25519, Malformed, Note, SigningKey, opened, parse, parse_vkey

LOG = SigningKey("log.example", b"l" * 32)
WITNESS = SigningKey("witness.example/w1", b"w" * 32, COSIGNATURE)
OTHER = SigningKey("witness.example/w2", b"v" * 32, COSIGNATURE)
LEAVES = [b"a", b"b", b"c", b"d", b"e"]
ROOT = tree.hash_of(tiles.leaf_hashes(LEAVES))
CHECKPOINT = Checkpoint("log.example", 5, ROOT)
NOTE = LOG.sign(CHECKPOINT.text)


def test_a_checkpoint_is_read_as_it_was_written() -> None:
    example = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
    found = checkpoints.parse(example)
    assert found == Checkpoint("example.com/behind-the-sofa", 20852163, base64.b64decode("CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="))
    assert found.text == example
    assert checkpoints.parse(example + "more\n") == found
    assert checkpoints.of_note(NOTE)[0] == CHECKPOINT
    assert opened(NOTE, [LOG.verifier]).text == CHECKPOINT.text


@pytest.mark.parametrize(
    "text",
    ["", "a\n1\n", "a\n01\n" + "A" * 43 + "=\n", "a\n-1\n" + "A" * 43 + "=\n", "\n1\n" + "A" * 43 + "=\n", "a\n1\nAAAA\n",
     "a\n1\n" + "A" * 42 + "B=\n", "a\n1\n" + "A" * 43 + "=", "a\n99999999999999999\n" + "A" * 43 + "=\n", "a\n٣\n" + "A" * 43 + "=\n"],
)  # fmt: skip
def test_a_text_that_is_no_checkpoint_is_refused(text: str) -> None:
    with pytest.raises(Malformed):
        checkpoints.parse(text)


def test_a_proof_stands_alone() -> None:
    edge, _ = tiles.grow(tiles.Edge(), tiles.leaf_hashes(LEAVES))
    node = tiles.node_of(lambda level, number, width: edge.rows[level])
    proof = Proof(3, tuple(tree.proof(tree.inclusion_spans(3, 5), node)), NOTE)
    text = checkpoints.proof_text(proof)
    assert text.startswith("c2sp.org/tlog-proof@v1\nindex 3\n")
    assert text.endswith(f"\n\n{NOTE}")
    assert checkpoints.parse_proof(text) == proof
    assert checkpoints.parse_proof(text.replace("\nindex", "\nextra QUJD\nindex")) == proof
    assert checkpoints.includes(CHECKPOINT, proof, b"d")
    assert not checkpoints.includes(CHECKPOINT, proof, b"e")
    alone = checkpoints.proof_text(Proof(0, (), NOTE))
    assert checkpoints.parse_proof(alone) == Proof(0, (), NOTE)
    for wrong in (
        text.replace("@v1", "@v2"),
        text.replace("index 3", "index 03"),
        text.replace("\n\n", "\n", 1),
        "",
        "c2sp.org/tlog-proof@v1\n\n",
    ):
        with pytest.raises(Malformed):
            checkpoints.parse_proof(wrong)


def test_a_cosignature_is_of_one_key_one_checkpoint_and_one_moment() -> None:
    signature = cosigning.cosign(WITNESS, CHECKPOINT.text, 1_790_000_000)
    assert cosigning.cosigned_at(WITNESS.verifier, CHECKPOINT.text, signature) == 1_790_000_000
    assert cosigning.cosigned_at(OTHER.verifier, CHECKPOINT.text, signature) is None
    assert cosigning.cosigned_at(WITNESS.verifier, CHECKPOINT._replace(size=4).text, signature) is None
    later = signature._replace(signature=(1_790_000_001).to_bytes(8) + signature.signature[8:])
    assert cosigning.cosigned_at(WITNESS.verifier, CHECKPOINT.text, later) is None
    assert cosigning.cosigned_at(WITNESS.verifier._replace(kind=ED25519), CHECKPOINT.text, signature) is None
    assert parse_vkey(WITNESS.verifier.vkey) == WITNESS.verifier
    note = cosigning.with_cosignatures(NOTE, [signature])
    assert opened(note, [LOG.verifier]).text == CHECKPOINT.text
    known = [WITNESS.verifier, OTHER.verifier]
    assert cosigning.cosignatures(parse(note), known) == (signature,)
    assert cosigning.cosignatures(parse(note), [OTHER.verifier]) == ()
    answered = cosigning.signatures_in(CHECKPOINT.text, cosigning.lines_of([signature, cosigning.cosign(OTHER, CHECKPOINT.text, 5)]))
    assert len(cosigning.cosignatures(Note(CHECKPOINT.text, answered), known)) == 2


def test_a_request_for_a_cosignature_is_read_as_it_was_written() -> None:
    for request in (Request(0, (), NOTE), Request(3, (ROOT, ROOT), NOTE)):
        assert cosigning.parse_request(cosigning.request_text(request)) == request
    good = cosigning.request_text(Request(3, (ROOT,), NOTE))
    assert good.startswith("old 3\n")
    for wrong in (good.replace("old 3", "old 03"), good.replace("old 3", "3"), good.replace("\n\n", "\n"), "old 3\nx\n\n", ""):
        with pytest.raises(Malformed):
            cosigning.parse_request(wrong)
    with pytest.raises(Malformed):
        cosigning.parse_request(cosigning.request_text(Request(3, (ROOT,) * 64, NOTE)))
