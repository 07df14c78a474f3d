"""Checks: invariants of the forward pass, measured on the trace that is on screen."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QPushButton, QTreeWidget, QTreeWidgetItem, QVBoxLayout

from gptviz.analysis.check import Check
from gptviz.analysis.table import Table
from gptviz.panes.pane import Pane, differs
from gptviz.session.explain import LOAD_THE_MODEL
from gptviz.session.session import Session
from gptviz.session.state import ViewState
from gptviz.session.tables import checks_table
from gptviz.widgets.note import Note
from gptviz.widgets.plain_label import plain_label
from gptviz.widgets.text import number
from gptviz.widgets.theme import UNIT, current, mono_font, px

_COLUMNS = ("Check", "Largest error", "Where")
_CHECK, _ERROR, _WHERE = range(3)


class ChecksPane(Pane):
    """Red when broken; a double click goes to the stage with the largest error."""

    name = "checks"
    title = "Checks"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.summary = plain_label("rowTitle")
        self.causality = QPushButton("Check causality")
        tip = "Run the prompt with another last token: no earlier position may change"
        self.causality.setToolTip(tip)
        self.causality.setAccessibleName("Check causality")
        self.causality.clicked.connect(session.checking.check_causality)
        self.list = QTreeWidget()
        self.list.setHeaderLabels(_COLUMNS)
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setFrameShape(QTreeWidget.Shape.NoFrame)
        self.list.setAccessibleName("Checks")
        self.list.setAllColumnsShowFocus(True)
        self.list.header().setStretchLastSection(False)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.header().setSectionResizeMode(_CHECK, QHeaderView.ResizeMode.Stretch)
        self.list.itemActivated.connect(self._activated)
        for column, width in ((_ERROR, 100), (_WHERE, 150)):
            self.list.setColumnWidth(column, px(width))
        self.note = Note()
        self.note.hide()
        top = QHBoxLayout()
        top.addWidget(self.summary, 1)
        top.addWidget(self.causality)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(3 * UNIT, 3 * UNIT, 3 * UNIT, 3 * UNIT)
        layout.setSpacing(2 * UNIT)
        layout.addLayout(top)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.note)

    def render_state(self, old: ViewState | None, new: ViewState) -> None:
        self.causality.setEnabled(new.trace is not None and new.trace.complete and new.activity is None)
        if not differs(old, new, "checks"):
            return
        self.summary.setText(summary(new))
        self.list.clear()
        for check in new.checks.results:
            self.list.addTopLevelItem(_item(check))
        self.note.setText(_lacking(new))
        self.note.setVisible(bool(self.note.text()))

    def as_table(self) -> Table | None:
        results = self.session.state.checks.results
        return checks_table(results) if results else None

    def _activated(self, item: QTreeWidgetItem, column: int) -> None:
        where = item.data(_WHERE, Qt.ItemDataRole.UserRole)
        trace = self.session.state.trace
        if trace is not None and where in trace:
            self.session.select_stage(where)


def summary(state: ViewState) -> str:
    """Say in one line how the checks stand."""
    report = state.checks
    if not report.results:
        return "checks: nothing measured yet"
    measured = [check for check in report.results if check.max_error is not None]
    largest = number(max((check.max_error or 0.0 for check in measured), default=0.0), 2)
    all_of_them = len(measured) == len(report.results) or not state.is_recorded
    count = f"{len(measured)}" if all_of_them else f"{len(measured)} of {len(report.results)}"
    if report.broken:
        return f"✗ {len(report.broken)} of {len(measured)} checks broken, largest error {largest}"
    if not report.complete:
        return f"… {len(measured)} checks, {report.done} of {report.total} parts, largest error {largest}"
    return f"✓ {count} checks, largest error {largest}"


def _lacking(state: ViewState) -> str:
    """Say what a recording lacks of what the checks take; empty if it lacks nothing."""
    notes = dict.fromkeys(check.note for check in state.checks.results if check.note)
    if not notes or not state.is_recorded:
        return ""
    return f"Not measured: {'; '.join(notes)}. The model is not loaded. {LOAD_THE_MODEL} to measure all."


def _item(check: Check) -> QTreeWidgetItem:
    if check.max_error is None:
        cells = [check.name, "not measured", check.note]
    else:
        cells = [check.name, number(check.max_error, 3), check.where]
    item = QTreeWidgetItem(cells)
    item.setData(_WHERE, Qt.ItemDataRole.UserRole, check.where)
    for column in (_ERROR, _WHERE):
        item.setFont(column, mono_font(11))
        item.setForeground(column, QColor(current().muted))
        item.setToolTip(column, cells[column])
    allowed = f"; allowed: {number(check.tolerance, 2)}" if check.max_error is not None else ""
    partly = f". Not everywhere: {check.note}" if check.note and allowed else ""
    item.setToolTip(_CHECK, f"{check.name}{allowed}{partly}")
    item.setTextAlignment(_ERROR, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    if check.ok is False:
        for column in (_CHECK, _ERROR, _WHERE):
            item.setForeground(column, QColor(current().error))
    return item
