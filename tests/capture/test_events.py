"""What a capture tells while it runs, and how it ends when it does not run to its end."""

import threading

import pytest
import torch
from torch import Tensor, nn

from gptviz.capture import CaptureCancelled, CaptureError, StageRecord, capture, catalogue
from gptviz.model import TINY, FeedForward, GPTModel, InputError


class SetAfter:
    """A cancel flag that is set from the n-th question on."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.asked = 0

    def is_set(self) -> bool:
        self.asked += 1
        return self.asked >= self.n


class Broken(FeedForward):
    def forward(self, x: Tensor) -> Tensor:
        raise ZeroDivisionError("out of luck")


def test_every_stage_is_told_in_order(tiny_model: GPTModel, ids: Tensor) -> None:
    told: list[StageRecord] = []

    trace = capture(tiny_model, ids, on_stage=told.append)

    assert [record.stage for record in told] == list(catalogue(TINY))
    assert tuple(told) == trace.records


def test_a_stage_is_told_as_soon_as_it_is_done(own_tiny_model: GPTModel, ids: Tensor) -> None:
    order: list[str] = []
    own_tiny_model.trf_blocks[1].norm1.register_forward_pre_hook(lambda *_: order.append("block 2 begins"))

    capture(own_tiny_model, ids, on_stage=lambda record: order.append(record.name))

    begins = order.index("block 2 begins")
    assert (order[begins - 1], order[begins + 1]) == ("trf_blocks.0.shortcut2", "trf_blocks.1.norm1")


def test_every_stage_has_its_milliseconds(tiny_model: GPTModel, ids: Tensor) -> None:
    trace = capture(tiny_model, ids)

    assert all(record.ms >= 0 for record in trace.records)
    assert trace.ms == pytest.approx(sum(record.ms for record in trace.records))
    assert trace.ms > 0


def test_a_cancel_after_n_stages_ends_the_pass_there(tiny_model: GPTModel, ids: Tensor) -> None:
    told: list[str] = []

    with pytest.raises(CaptureCancelled, match=r"^stopped after trf_blocks\.0\.att\.weights$"):
        capture(tiny_model, ids, on_stage=lambda record: told.append(record.name), cancel=SetAfter(16))

    assert told == [stage.name for stage in catalogue(TINY)[:16]]


def test_a_flag_that_is_set_at_the_last_stage_still_cancels(tiny_model: GPTModel, ids: Tensor) -> None:
    with pytest.raises(CaptureCancelled, match="stopped after next"):
        capture(tiny_model, ids, cancel=SetAfter(55))


def test_a_flag_that_is_set_beforehand_cancels_before_any_work(own_tiny_model: GPTModel, ids: Tensor) -> None:
    worked: list[int] = []
    own_tiny_model.tok_emb.register_forward_hook(lambda *_: worked.append(1))
    cancel = threading.Event()
    cancel.set()

    with pytest.raises(CaptureCancelled):
        capture(own_tiny_model, ids, cancel=cancel)

    assert worked == []


def test_a_flag_that_is_never_set_changes_nothing(tiny_model: GPTModel, ids: Tensor) -> None:
    assert torch.equal(capture(tiny_model, ids, cancel=threading.Event())["out_head"], tiny_model(ids))


def test_a_model_works_after_a_cancel(tiny_model: GPTModel, ids: Tensor) -> None:
    with pytest.raises(CaptureCancelled):
        capture(tiny_model, ids, cancel=SetAfter(23))  # between the two calls of a block's drop_shortcut

    assert capture(tiny_model, ids).names == tuple(stage.name for stage in catalogue(TINY))


@pytest.mark.parametrize("budget", [0, 2**30])
def test_a_digest_is_made_of_every_blocks_stage(tiny_model: GPTModel, ids: Tensor, budget: int) -> None:
    trace = capture(
        tiny_model, ids, budget=budget, digests={"att.weights": lambda weights: weights.amax(dim=-1).numpy()}
    )

    assert set(trace.digests) == {"trf_blocks.0.att.weights", "trf_blocks.1.att.weights"}
    for name, digest in trace.digests.items():
        assert digest.tolist() == trace[name].amax(dim=-1).tolist()


def test_without_digests_there_are_none(tiny_model: GPTModel, ids: Tensor) -> None:
    assert dict(capture(tiny_model, ids).digests) == {}


def test_a_failure_names_the_last_stage_that_ran_and_the_reason(own_tiny_model: GPTModel, ids: Tensor) -> None:
    own_tiny_model.trf_blocks[1].ff = Broken(32)

    with pytest.raises(CaptureError, match=r"failed after trf_blocks\.1\.norm2: out of luck$") as raised:
        capture(own_tiny_model, ids)

    assert isinstance(raised.value.__cause__, ZeroDivisionError)


def test_a_module_that_is_no_gpt_model_is_refused(ids: Tensor) -> None:
    with pytest.raises(CaptureError, match="no GPTModel"):
        capture(nn.Linear(3, 3), ids)  # type: ignore[arg-type]


def test_a_model_that_lacks_a_module_is_refused_by_its_name(own_tiny_model: GPTModel, ids: Tensor) -> None:
    own_tiny_model.trf_blocks[1].att = nn.Identity()

    with pytest.raises(CaptureError, match=r"no module 'trf_blocks\.1\.att\.W_query'"):
        capture(own_tiny_model, ids)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (torch.empty(1, 0, dtype=torch.int64), "there are no tokens"),
        (torch.empty(0, 4, dtype=torch.int64), "there are no tokens"),
        (torch.tensor([[50257]]), "token ID 50257 is outside"),
        (torch.tensor([[-1]]), "token ID -1 is outside"),
        (torch.zeros(1, 65, dtype=torch.int64), "65 tokens are more than"),
        (torch.tensor([1, 2]), r"shape \(batch, tokens\)"),
        (torch.tensor(1), r"shape \(batch, tokens\)"),
    ],
)
def test_ids_that_do_not_fit_are_refused_as_by_the_model(tiny_model: GPTModel, wrong: Tensor, why: str) -> None:
    with pytest.raises(InputError, match=why):
        capture(tiny_model, wrong)
