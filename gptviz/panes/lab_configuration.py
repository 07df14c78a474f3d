"""The lab of configurations: what a setting changes, before the model is built, and then the model itself."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout

from gptviz.labs.dictionary import DictionaryError, as_dictionary, read_dictionary
from gptviz.model.config import CONFIGS, GPT2_SMALL, ConfigError, GPTConfig
from gptviz.panes.lab_configuration_words import basis_of, cost_rows, shape_rows, warning_of
from gptviz.panes.lab_pane import LabPane
from gptviz.panes.lab_settings import PRESETS, brief, others_of, read, settings, values_of
from gptviz.panes.pane import differs
from gptviz.session import lab_jobs
from gptviz.session.session import Session
from gptviz.session.state import DEFAULT_SEED, ViewState
from gptviz.widgets.buttons import row_of, text_button
from gptviz.widgets.lab_body import LabBody
from gptviz.widgets.lab_header import LabHeader
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.presets import Presets
from gptviz.widgets.settings_form import SettingsForm
from gptviz.widgets.side_column import SideColumn
from gptviz.widgets.theme import UNIT, px
from gptviz.widgets.value_table import Column, ValueTable

if TYPE_CHECKING:
    from gptviz.labs.configuration import ConfigurationReport
    from gptviz.labs.timing import Basis

_SIDE = 284  # px
_WIDEST = 1560  # px
_WIDE = 1560  # px: from here on the shapes stand beside the cost


class ConfigurationLabPane(LabPane):
    """Shows the cost of each change beside the model that is there; builds on request."""

    name = "lab-configuration"
    title = "Configuration"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._config = GPT2_SMALL
        self._basis: Basis | None = None
        self._too_large = False  # the settings are good, but their size is refused
        self.header = LabHeader(
            "What does a setting change, before anything is built?",
            "Shapes and parameters follow from the settings; time is estimated from a measurement on this machine. "
            "Then build it, and watch it run in the window.",
        )
        self.header.reset.connect(lambda: self._use(GPT2_SMALL))
        self.presets = Presets(PRESETS, "Size")
        self.presets.chosen.connect(lambda key: self._use(CONFIGS[key]))
        self.form = SettingsForm(settings(), columns=2)
        self.form.changed.connect(self._edited)
        self.build = text_button(
            "Build and use it", "Make this model in the background, and run the prompt on it", "Alt+B"
        )
        self.build.setObjectName("primary")
        self.build.clicked.connect(self._build)
        self.copy = text_button("Copy as Python", "Copy the settings as a dictionary", "Alt+C")
        self.copy.clicked.connect(self._copy)
        self.paste = text_button("Paste", "Take the settings of a dictionary from the clipboard", "Alt+V")
        self.paste.clicked.connect(self._paste)
        self.progress = plain_label("muted", wrap=True)
        self.note = plain_label("muted", wrap=True)
        self.warning = plain_label("notice", wrap=True)
        self.cost = ValueTable(
            "Cost",
            (
                Column("What it costs", 232, most=340),
                Column("On screen", 172, most=200, figures=True),
                Column("Edited", 172, most=200, figures=True),
                Column("Times", 112, figures=True),
            ),
            fitted=True,
        )
        self.basis = plain_label("muted", wrap=True)
        self.shapes = ValueTable(
            "Shapes",
            (
                Column("Stage", 232, most=340, mono=True),
                Column("On screen", 172, most=200, figures=True),
                Column("Edited", 172, most=200, figures=True),
                Column("Sizes", 112, figures=True),
            ),
        )
        self._lay_out()
        self._show_config()

    def _lay_out(self) -> None:
        side = SideColumn(_SIDE)
        side.add_section("Size", self.presets)
        side.add_section("Settings", self.form)
        side.add_section("Model", self.build, self.progress, row_of(self.copy, self.paste), self.note)
        cost = QVBoxLayout()
        cost.setSpacing(2 * UNIT)
        cost.addWidget(self.cost)
        cost.addWidget(self.basis)
        cost.addStretch()
        self.tables = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self.tables.setSpacing(3 * UNIT)
        self.tables.addLayout(cost)
        self.tables.addWidget(self.shapes, 1)
        body = LabBody(side, (self.warning, self.tables), self.tables, _WIDEST)
        self.new_layout().addWidget(body, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= px(_WIDE)
        direction = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if self.tables.direction() != direction:
            self.tables.setDirection(direction)
            self.tables.setStretch(0, 1 if wide else 0)

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        if differs(old, new, "model", "tokens"):
            self.submit()
        if differs(old, new, "model", "activity", "message"):
            self._show_progress(new)

    def _progress(self, state: ViewState) -> str:
        if state.activity is not None and self.session.building:
            share = state.activity.fraction
            return state.activity.text if share is None else f"{state.activity.text}: {share:.0%} (Esc cancels)"
        if state.message is not None:
            return str(state.message)
        if state.model is not None and state.model.config == self._config:
            return f"On screen: {state.model.description}"
        return ""

    def _show_progress(self, state: ViewState) -> None:
        self.progress.setText(self._progress(state))
        self.progress.setVisible(bool(self.progress.text()))

    # --- what a person asks for --------------------------------------------------------------------------

    def _use(self, config: GPTConfig) -> None:
        self._config = config
        self.form.set_values(values_of(config))
        self._show_config()
        self.submit()

    def _edited(self, values: object) -> None:
        config = read(self.form, self._config)
        self.build.setEnabled(config is not None)
        self.copy.setEnabled(config is not None)
        if config is not None:
            self._config = config
            self._show_config()
            self.submit()
        else:
            self._too_large = False

    def _show_config(self) -> None:
        self._too_large = False
        self.build.setEnabled(True)
        self.copy.setEnabled(True)
        self.note.setText("")
        self.presets.set_choice(next((key for key, config in CONFIGS.items() if config == self._config), None))
        others = others_of(self._config)
        warning = warning_of(self._config, [len(row.ids) for row in self.session.state.tokens])
        self.warning.setText(f"Pasted besides: {others}. {warning}".strip() if others else warning)
        self.warning.setVisible(bool(self.warning.text()))
        self._show_progress(self.session.state)

    def _build(self) -> None:
        model = self.session.state.model
        seed = None if model is None else model.seed
        self.session.use_model(self._config, DEFAULT_SEED if seed is None else seed)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(as_dictionary(self._config))
        self.note.setText("Copied.")

    def _paste(self) -> None:
        try:
            config = GPTConfig.from_dict(read_dictionary(QGuiApplication.clipboard().text()))
        except (DictionaryError, ConfigError) as error:
            self.note.setText(f"Nothing was pasted: {brief(str(error))}.")
            return
        self._use(config)
        self.note.setText("Pasted.")

    # --- the cost ----------------------------------------------------------------------------------------

    def submit(self) -> None:
        state = self.session.state
        present = None if state.model is None else state.model.config
        batch = len(state.tokens), max(1, *(len(row.ids) for row in state.tokens), 1)
        self.compute(partial(lab_jobs.configuration, self._config, present, batch, self._basis))

    def show_result(self, report: "ConfigurationReport") -> None:
        self._basis = report.basis
        self.cost.set_rows(cost_rows(report))
        self.basis.setText(basis_of(report))
        self.shapes.set_rows(shape_rows(report))
        if not report.edited.fits:
            self.refuse(report.edited.refusal.field, str(report.edited.refusal))
        elif self._too_large:  # another prompt, or memory that is free again
            self._too_large = False
            self.form.accept()
            self.build.setEnabled(True)

    def refuse(self, field: str | None, reason: str) -> None:
        if field is None:
            self.note.setText(brief(reason))
            return
        self._too_large = True
        self.form.refuse(field, reason)
        self.build.setEnabled(False)
