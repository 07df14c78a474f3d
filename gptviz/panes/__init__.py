"""One file a pane. A new pane is a new file and a line in ``PANES``."""

from gptviz.panes.attention import AttentionPane
from gptviz.panes.checks import ChecksPane
from gptviz.panes.flow import FlowPane
from gptviz.panes.generation import GenerationPane
from gptviz.panes.layer_norm import LayerNormPane
from gptviz.panes.next_token import NextTokenPane
from gptviz.panes.pane import Pane
from gptviz.panes.shape_trace import ShapeTracePane
from gptviz.panes.stage import StagePane

PANES: tuple[type[Pane], ...] = (
    ShapeTracePane,
    FlowPane,
    StagePane,
    AttentionPane,
    LayerNormPane,
    ChecksPane,
    NextTokenPane,
    GenerationPane,
)
