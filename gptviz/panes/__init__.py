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
    has_table: bool = False  # whether it can be saved as CSV

    def __call__(self, session: "Session") -> "Pane":
        """Import the pane and make it."""
        pane: Pane = getattr(import_module(f"gptviz.panes.{self.module}"), self.kind)(session)
        return pane


PANES: tuple[PaneEntry, ...] = (
    PaneEntry("shape-trace", "Shape trace", "shape_trace", "ShapeTracePane", has_table=True),
    PaneEntry("flow", "Flow", "flow", "FlowPane"),
    PaneEntry("stage", "Stage", "stage", "StagePane"),
    PaneEntry("attention", "Attention", "attention", "AttentionPane"),
    PaneEntry("heads", "Heads", "heads", "HeadsPane", has_table=True),
    PaneEntry("layer-norm", "LayerNorm", "layer_norm", "LayerNormPane"),
    PaneEntry("arithmetic", "Arithmetic", "arithmetic", "ArithmeticPane", has_table=True),
    PaneEntry("where-from", "Where from", "where_from", "WhereFromPane", has_table=True),
    PaneEntry("loop", "Loop", "loop", "LoopPane", has_table=True),
    PaneEntry("checks", "Checks", "checks", "ChecksPane", has_table=True),
    PaneEntry("next-token", "Next token", "next_token", "NextTokenPane", has_table=True),
    PaneEntry("generation", "Generation", "generation", "GenerationPane", has_table=True),
    PaneEntry("lens", "Logit lens", "lens", "LensPane", has_table=True),
    PaneEntry("compare", "Compare", "compare", "ComparePane", has_table=True),
    PaneEntry("tour", "Tour", "tour", "TourPane", at_first=False),
)

# Labs are panes too; they share a place of their own, the bench.
LABS: tuple[PaneEntry, ...] = (
    PaneEntry("lab-shell", "Shell", "lab_shell", "ShellLabPane"),
    PaneEntry("lab-layer-norm", "LayerNorm", "lab_layer_norm", "LayerNormLabPane"),
    PaneEntry("lab-gelu", "GELU and ReLU", "lab_gelu", "GeluLabPane"),
    PaneEntry("lab-feed-forward", "Feed-forward", "lab_feed_forward", "FeedForwardLabPane"),
    PaneEntry("lab-gradients", "Shortcuts and gradients", "lab_gradients", "GradientsLabPane"),
    PaneEntry("lab-parameters", "Parameters", "lab_parameters", "ParametersLabPane", has_table=True),
    PaneEntry("lab-configuration", "Configuration", "lab_configuration", "ConfigurationLabPane"),
)
