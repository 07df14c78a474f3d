"""One file a pane. A new pane is a new file and a line in ``PANES``."""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gptviz.panes.pane import Pane
    from gptviz.session.session import Session


@dataclass(frozen=True)
class PaneEntry:
    """What is known of a pane before it is imported, so that the window is painted without waiting for it."""

    name: str  # stable: command line, saved layouts
    title: str
    module: str
    kind: str
    at_first: bool = True  # whether a first start shows it

    def __call__(self, session: "Session") -> "Pane":
        """Import the pane and make it."""
        pane: Pane = getattr(import_module(f"gptviz.panes.{self.module}"), self.kind)(session)
        return pane


PANES: tuple[PaneEntry, ...] = (
    PaneEntry("shape-trace", "Shape trace", "shape_trace", "ShapeTracePane"),
    PaneEntry("flow", "Flow", "flow", "FlowPane"),
    PaneEntry("stage", "Stage", "stage", "StagePane"),
    PaneEntry("attention", "Attention", "attention", "AttentionPane"),
    PaneEntry("heads", "Heads", "heads", "HeadsPane"),
    PaneEntry("layer-norm", "LayerNorm", "layer_norm", "LayerNormPane"),
    PaneEntry("arithmetic", "Arithmetic", "arithmetic", "ArithmeticPane"),
    PaneEntry("where-from", "Where from", "where_from", "WhereFromPane"),
    PaneEntry("loop", "Loop", "loop", "LoopPane"),
    PaneEntry("checks", "Checks", "checks", "ChecksPane"),
    PaneEntry("next-token", "Next token", "next_token", "NextTokenPane"),
    PaneEntry("generation", "Generation", "generation", "GenerationPane"),
    PaneEntry("lens", "Logit lens", "lens", "LensPane"),
    PaneEntry("compare", "Compare", "compare", "ComparePane"),
    PaneEntry("tour", "Tour", "tour", "TourPane", at_first=False),
)

# Labs are panes too; they share a place of their own, the bench.
LABS: tuple[PaneEntry, ...] = (
    PaneEntry("lab-shell", "Shell", "lab_shell", "ShellLabPane"),
    PaneEntry("lab-layer-norm", "LayerNorm", "lab_layer_norm", "LayerNormLabPane"),
    PaneEntry("lab-gelu", "GELU and ReLU", "lab_gelu", "GeluLabPane"),
    PaneEntry("lab-feed-forward", "Feed-forward", "lab_feed_forward", "FeedForwardLabPane"),
    PaneEntry("lab-gradients", "Shortcuts and gradients", "lab_gradients", "GradientsLabPane"),
    PaneEntry("lab-parameters", "Parameters", "lab_parameters", "ParametersLabPane"),
    PaneEntry("lab-configuration", "Configuration", "lab_configuration", "ConfigurationLabPane"),
)
