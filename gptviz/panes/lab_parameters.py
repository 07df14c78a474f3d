"""The lab of parameters: where they are, what they cost, and why the name says 124M."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from gptviz.analysis.table import Table
from gptviz.model.config import CONFIGS, GPT2_SMALL, GPTConfig
from gptviz.panes.lab_pane import LabPane
from gptviz.panes.lab_parameters_words import controlled, figures, name_of, shares, size_rows, tensor_rows
from gptviz.panes.lab_question import LabQuestion
from gptviz.panes.lab_settings import PRESETS, read, settings, values_of
from gptviz.session import lab_jobs
from gptviz.session.session import Session
from gptviz.session.tables import parameters_table
from gptviz.tour import lab_questions as questions
from gptviz.widgets.figure_row import FigureRow
from gptviz.widgets.lab_body import LabBody
from gptviz.widgets.lab_header import LabHeader
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.presets import Presets
from gptviz.widgets.settings_form import SettingsForm
from gptviz.widgets.share_bar import ShareBar
from gptviz.widgets.side_column import SideColumn
from gptviz.widgets.value_table import Column, ValueTable

if TYPE_CHECKING:
    from gptviz.labs.parameters import ParameterTable, SizeRow

_SIDE = 284  # px
_WIDEST = 1240  # px


class ParametersLabPane(LabPane):
    """Counts after each change, on a model without memory."""

    name = "lab-parameters"
    title = "Parameters"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._config = GPT2_SMALL
        self._table: ParameterTable | None = None
        self._setting = ""  # the one that the person is at
        self.header = LabHeader(
            "Where are the parameters, and why does the name say 124M?",
            "Every tensor with its formula. The model is made without memory to be counted, so that the largest costs "
            "nothing.",
        )
        self.header.reset.connect(lambda: self._use(GPT2_SMALL))
        self.presets = Presets(PRESETS, "Size")
        self.presets.chosen.connect(lambda key: self._use(CONFIGS[key]))
        self.form = SettingsForm(settings(), columns=2)
        self.form.changed.connect(self._edited)
        self.form.attended.connect(self._attended)
        self.figures = FigureRow(
            ("parameters as coded, with a head of its own", "with tied weights", "in fp32", "in fp16")
        )
        self.why = plain_label("", wrap=True)
        self.controls = plain_label("muted")
        self.shares = ShareBar("Shares of the parameters")
        self.tensors = ValueTable(
            "Tensors",
            (
                Column("Tensor", 180, most=236, mono=True),
                Column("Shape", 108, figures=True),
                Column("Formula", 100, figures=True),
                Column("With numbers", 152, most=176, figures=True),
                Column("Parameters", 112, figures=True),
                Column("Share", 72, figures=True),
                Column("Set by", 184, most=260),
            ),
        )
        self.sizes = ValueTable(
            "GPT-2's sizes",
            (
                Column("Size", 132, most=160),
                Column("E", 56, figures=True),
                Column("L", 44, figures=True),
                Column("H", 44, figures=True),
                Column("As coded", 116, figures=True),
                Column("Tied", 116, figures=True),
                Column("Tied, qkv bias", 120, figures=True),
                Column("Called", 68, figures=True),
                Column("fp32", 80, figures=True),
                Column("fp16", 80, figures=True),
            ),
            fitted=True,
        )
        told = (self.figures, self.why, self.shares, self.controls, self.tensors, self.sizes)
        self.question = LabQuestion(session, told, self)
        self._lay_out(told)
        self._show_config()

    def _lay_out(self, told: Sequence[QWidget]) -> None:
        side = SideColumn(_SIDE)
        side.add_section("Size", self.presets)
        side.add_section("Settings", self.form)
        body = LabBody(side, (self.question.box, *told), self.tensors, _WIDEST)
        self.new_layout().addWidget(body, 1)

    def _use(self, config: GPTConfig) -> None:
        self.question.expect()
        self._config = config
        self.form.set_values(values_of(config))
        self._show_config()
        self.submit()

    def _edited(self, values: object) -> None:
        config = read(self.form, self._config)
        if config is not None:
            self._config = config
            self._show_config()
            self.submit()

    def _show_config(self) -> None:
        self.presets.set_choice(next((key for key, config in CONFIGS.items() if config == self._config), None))

    def submit(self) -> None:
        self.compute(partial(lab_jobs.parameters, self._config))

    def refuse(self, field: str | None, reason: str) -> None:
        self.form.refuse(field or "emb_dim", reason)

    def show_result(self, counted: "tuple[ParameterTable, tuple[SizeRow, ...]]") -> None:
        table, sizes = counted
        self._table = table
        self.question.before(partial(questions.tied_head, table.config))
        self.figures.set_figures(figures(table))
        self.why.setText(name_of(table))
        self.shares.set_shares(shares(table))
        self.sizes.set_rows(size_rows(table, sizes))
        self._show_tensors()

    def as_table(self) -> Table | None:
        counted = self._table
        return None if counted is None else parameters_table(counted.tensors, sum(row.total for row in counted.tensors))

    def _attended(self, setting: str) -> None:
        self._setting = setting
        self._show_tensors()

    def _show_tensors(self) -> None:
        if self._table is not None:
            self.tensors.set_rows(tensor_rows(self._table, self._setting))
            self.controls.setText(controlled(self._table, self._setting))
