"""A number that is typed, with its name beside it: as compact as a row; the reason of a refusal comes below."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QPushButton

from gptviz.widgets.number_field import NumberField
from gptviz.widgets.number_rule import NumberRule
from gptviz.widgets.theme import UNIT, px

_NAME = 80  # px
_EDIT = 68  # px


class InlineNumberField(NumberField):
    """For several fields below each other, where height is scarce."""

    def __init__(self, name: str, value: float, rule: NumberRule, *, tip: str = "", step: float = 1) -> None:
        super().__init__(name, value, rule, tip=tip, step=step)
        column = self.layout()
        assert column is not None
        column.removeWidget(self.caption)
        column.setSpacing(2)
        self._line.insertWidget(0, self.caption)
        self._fit()
        self._show_message()

    def put_before(self, button: QPushButton) -> None:
        """Put what uses the number in the place of the name."""
        self._line.replaceWidget(self.caption, button)
        self.caption.hide()
        button.setMinimumWidth(px(_NAME))

    def _show_message(self) -> None:
        super()._show_message()
        self.warning.setVisible(bool(self.message))

    def _fit(self) -> None:
        super()._fit()
        self.warning.setMinimumHeight(0)
        self.warning.setFixedWidth(px(_NAME + _EDIT) + 2 * UNIT)  # so that what stands beside the field stays in place
        self.caption.setFixedWidth(px(_NAME))
        self.edit.setFixedWidth(px(_EDIT))

    def minimumSizeHint(self) -> QSize:
        return QSize(px(_NAME + _EDIT) + 8, super().minimumSizeHint().height())
